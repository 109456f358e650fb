/**
 * `fleetctl watch`: what is there, then a line for every change, until it is interrupted.
 *
 * @module
 */
import type { ResourceKind } from "../../../contracts/resource.ts";
import type { ResourceOf, StoreEvent } from "../../stores/port.ts";
import { deploymentColumns } from "../deployments/deployment_table.ts";
import { deviceColumns, type DeviceRow } from "../devices/device_table.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import type { Invocation } from "../invocation.ts";
import { releaseColumns } from "../releases/release_table.ts";
import { printableJsonLine } from "../render/printable.ts";
import { resourceName } from "../render/resource_list.ts";
import { type Column, type ColumnWidths, columnWidths, renderHeader, renderRows } from "../render/table.ts";
import { taskColumns } from "../tasks/task_table.ts";
import { type CommandContext, note } from "./command_context.ts";
import { isSelected } from "./find_resources.ts";
import { deviceRows } from "./get_command.ts";

type WatchInvocation = Extract<Invocation, { command: "get" | "watch" }>;

/** A change that is shown. */
export type ShownChange<K extends ResourceKind> =
  | { readonly event: "put"; readonly resource: ResourceOf[K] }
  | { readonly event: "delete"; readonly name: string; readonly last: ResourceOf[K] }
  | { readonly event: "malformed"; readonly name: string; readonly problem: string }
  | { readonly event: "current" };

/**
 * Turns the events of a store into the changes that are shown: only what is watched for, and nothing twice, although a
 * watch that begins again after a lost connection yields everything again.
 */
export class ChangeFilter<K extends ResourceKind> {
  readonly #invocation: Pick<WatchInvocation, "names" | "selector">;
  readonly #shown = new Map<string, ResourceOf[K]>();
  #isCurrent = false;

  constructor(invocation: Pick<WatchInvocation, "names" | "selector">) {
    this.#invocation = invocation;
  }

  /** What is to be shown of an event, if anything is. */
  take(event: StoreEvent<K>): ShownChange<K> | undefined {
    switch (event.kind) {
      case "put":
        return this.#put(event.resource);
      case "delete":
        return this.#remove(event.name);
      case "malformed":
        return this.#isNamed(event.name) ? { event: "malformed", name: event.name, problem: event.problem } : undefined;
      case "current":
        if (this.#isCurrent) return undefined;
        this.#isCurrent = true;
        return { event: "current" };
    }
  }

  #put(resource: ResourceOf[K]): ShownChange<K> | undefined {
    const { name, resourceVersion } = resource.metadata;
    if (!this.#isNamed(name)) return undefined;
    // A resource whose labels have changed leaves the watch as a deleted one does.
    if (!isSelected(resource, this.#invocation.selector)) return this.#remove(name);
    const before = this.#shown.get(name);
    this.#shown.set(name, resource);
    return before?.metadata.resourceVersion === resourceVersion ? undefined : { event: "put", resource };
  }

  #remove(name: string): ShownChange<K> | undefined {
    const last = this.#shown.get(name);
    if (last === undefined) return undefined;
    this.#shown.delete(name);
    return { event: "delete", name, last };
  }

  #isNamed(name: string): boolean {
    const { names } = this.#invocation;
    return names.length === 0 || names.includes(name);
  }
}

/**
 * Watches resources.
 *
 * @param invocation What to watch
 * @param context Fleet and terminal
 * @param signal Ends it
 */
export async function watchCommand(
  invocation: WatchInvocation,
  context: CommandContext,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { fleet, terminal } = context;
  const end = fleet.onConnection((connected) => {
    const text = connected ? "connected again" : "the connection is lost; changes are shown when it is back";
    // A closed output ends the watch at its next line.
    note(terminal, text).catch(() => {});
  });
  try {
    await watchKind(invocation.kind, invocation, context, signal);
  } finally {
    end();
  }
  return EXIT.ok;
}

async function watchKind<K extends ResourceKind>(
  kind: K,
  invocation: WatchInvocation,
  context: CommandContext,
  signal: AbortSignal,
): Promise<void> {
  const { fleet: { store }, terminal } = context;
  const filter = new ChangeFilter<K>(invocation);
  const table = new ChangeTable<K>(kind, context);
  for await (const event of store.watch(kind, signal)) {
    const change = filter.take(event);
    if (change === undefined) continue;
    switch (invocation.output) {
      case "json":
        await terminal.out(printableJsonLine(changeDocument(kind, change)));
        break;
      case "name":
        if (change.event === "put") await terminal.out(`${resourceName(kind, change.resource.metadata.name)}\n`);
        break;
      default:
        await table.show(change);
    }
  }
}

function changeDocument<K extends ResourceKind>(kind: K, change: ShownChange<K>): unknown {
  switch (change.event) {
    case "put":
      return { event: "put", resource: change.resource };
    case "delete":
      return { event: "delete", kind, name: change.name };
    case "malformed":
      return { event: "malformed", kind, name: change.name, problem: change.problem };
    case "current":
      return { event: "current" };
  }
}

/** A line of the table: a change, with what was read for it. */
interface ChangeRow<K extends ResourceKind> {
  readonly at: string;
  readonly resource: ResourceOf[K];
  readonly heartbeatAtMs: number | undefined;
}

/** Room for what these columns will say, so that later lines stand under the first ones. */
const WIDTHS_MIN: Readonly<Record<string, number>> = { SEEN: 4, AGENT: 8, STATE: "rollback-failed".length };

/** A time of the day in UTC. */
function clockTime(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(11, 19);
}

/** A table that grows by a line for every change. */
class ChangeTable<K extends ResourceKind> {
  readonly #kind: K;
  readonly #context: CommandContext;
  #initial: ResourceOf[K][] | undefined = [];
  #widths: ColumnWidths = [];

  constructor(kind: K, context: CommandContext) {
    this.#kind = kind;
    this.#context = context;
  }

  async show(change: ShownChange<K>): Promise<void> {
    const { terminal } = this.#context;
    if (change.event === "malformed") {
      await note(terminal, `warning: ${resourceName(this.#kind, change.name)} cannot be read: ${change.problem}`);
    } else if (change.event === "delete") {
      if (this.#initial === undefined) await this.#printDeleted(change.name);
      else this.#initial = this.#initial.filter(({ metadata }) => metadata.name !== change.name);
    } else if (change.event === "put") {
      if (this.#initial === undefined) await this.#print([change.resource]);
      else this.#initial.push(change.resource);
    } else {
      const initial = (this.#initial ?? []).sort((a, b) => a.metadata.name < b.metadata.name ? -1 : 1);
      this.#initial = undefined;
      await this.#print(initial, true);
    }
  }

  async #printDeleted(name: string): Promise<void> {
    const { fleet, terminal } = this.#context;
    const padded = name.padEnd(this.#widths[1] ?? 0);
    await terminal.out(`${clockTime(await fleet.nowMs())}  ${padded}  ${terminal.paint("deleted", "bad")}\n`);
  }

  async #print(resources: readonly ResourceOf[K][], withHeader = false): Promise<void> {
    const { fleet, terminal } = this.#context;
    const nowMs = await fleet.nowMs();
    const rows = await this.#rows(resources, clockTime(nowMs));
    const columns = changeColumns<K>(this.#kind, nowMs);
    // Later lines stand under the first ones; a wider value moves the columns from there on.
    const widths = columnWidths(columns, rows, terminal.width);
    this.#widths = widths.map((width, index) =>
      Math.max(width, this.#widths[index] ?? 0, WIDTHS_MIN[columns[index]?.title ?? ""] ?? 0)
    );
    const header = withHeader ? renderHeader(columns, this.#widths, terminal.paint) : "";
    await terminal.out(header + renderRows(columns, rows, this.#widths, terminal.paint));
  }

  async #rows(resources: readonly ResourceOf[K][], at: string): Promise<ChangeRow<K>[]> {
    if (this.#kind !== "Device") return resources.map((resource) => ({ at, resource, heartbeatAtMs: undefined }));
    const rows = await deviceRows(resources as readonly ResourceOf["Device"][], this.#context);
    return rows.map(({ device, heartbeatAtMs }) => ({ at, resource: device as ResourceOf[K], heartbeatAtMs }));
  }
}

function changeColumns<K extends ResourceKind>(kind: K, nowMs: number): Column<ChangeRow<K>>[] {
  return [{ title: "AT", cell: ({ at }) => at }, ...resourceColumns<K>(kind, nowMs)];
}

function resourceColumns<K extends ResourceKind>(kind: K, nowMs: number): Column<ChangeRow<K>>[] {
  switch (kind) {
    case "AgentRelease":
      return releaseColumns(nowMs).map((column) =>
        adapted(column, ({ resource }) => resource as ResourceOf["AgentRelease"])
      );
    case "FleetDeployment":
      return deploymentColumns(nowMs).map((column) =>
        adapted(column, ({ resource }) => resource as ResourceOf["FleetDeployment"])
      );
    case "TaskRun":
      return taskColumns(nowMs).map((column) => adapted(column, ({ resource }) => resource as ResourceOf["TaskRun"]));
    default:
      return deviceColumns(nowMs).map((column) =>
        adapted(
          column,
          ({ resource, heartbeatAtMs }): DeviceRow => ({ device: resource as ResourceOf["Device"], heartbeatAtMs }),
        )
      );
  }
}

function adapted<Row, Inner>(column: Column<Inner>, inner: (row: Row) => Inner): Column<Row> {
  return { ...column, cell: (row) => column.cell(inner(row)) };
}
