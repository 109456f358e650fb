/**
 * Texts of `fleetctl task --help`.
 *
 * @module
 */

/** Examples of each command of tasks, by its name. */
export const TASK_EXAMPLES = {
  task: `
A task upgrades the operating system of a set of devices once: every package, and a reboot where anything
changed or is due. Its targets are frozen when it is planned. Targets with the label canary=true go first;
the others go when every canary has succeeded and sent a heartbeat. A failed canary stops the rest.

There is no cancel. Deleting a task (fleetctl delete task NAME) withdraws the intents that no device has
accepted yet. A device that has accepted its own goes on to its end, and nothing that is done is undone.

Examples:
  fleetctl task run upgrade-lab --group production -l site=lab --dry-run
  fleetctl task run upgrade-lab --group production -l site=lab
  fleetctl task watch upgrade-lab
  fleetctl task devices upgrade-lab --phase failed
  fleetctl describe task upgrade-lab            how far it is, and what to do next`,
  run: `
Examples:
  fleetctl task run upgrade-lab --group production -l site=lab --dry-run    who, in which order, who is away
  fleetctl task run upgrade-lab --group production -l site=lab              asks before it starts
  fleetctl task run upgrade-1 --group production -l device-id=device-1      one device: does not ask
  fleetctl task run nightly --group production --deadline 12h --yes         for scripts

A run starts at once and cannot be canceled; deleting it withdraws what no device has accepted yet.`,
  get: `
Examples:
  fleetctl task get
  fleetctl task get upgrade-lab -o yaml`,
  watch: `
Examples:
  fleetctl task watch upgrade-lab               a line for every change, until Ctrl-C`,
  devices: `
Examples:
  fleetctl task devices upgrade-lab                              every target and where it stands
  fleetctl task devices upgrade-lab --phase failed               the ones behind that count, with the reason
  fleetctl task devices upgrade-lab --phase failed --reason DiskFull -o name | xargs fleetctl describe

targets: all; canaries: those that go first; waiting: without an intent, not released or withdrawn;
released: with one, ended or not; unanswered: with one, and no word of it; running: accepted;
succeeded, failed; late: ended after the deadline.`,
} as const;
