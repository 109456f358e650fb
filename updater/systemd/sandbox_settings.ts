/**
 * The sandbox, user and environment of a unit, read from its files, so that a transient unit gets the same ones: local
 * drop-ins included, which is where a site sets its proxy.
 *
 * @module
 */

/** Settings of `[Service]` that are about the service's life, not about what its processes see and may do. */
const LIFE =
  /^(?:Type|ExitType|Exec[A-Z]\w*|Restart\w*|StartLimit\w*|Timeout\w*|RuntimeMax\w*|RuntimeRandomized\w*|Watchdog\w*|Notify\w*|FileDescriptor\w*|PIDFile|BusName|RemainAfterExit|GuessMainPID|SuccessExitStatus|KillMode|KillSignal|RestartKillSignal|SendSIG\w*|FinalKillSignal|OOMPolicy|USBFunction\w*|Sockets|OpenFile|Standard\w*|Slice|RuntimeDirectory\w*|NonBlocking|RootDirectoryStartOnly|TTY\w*)$/;

/** What the values of a unit's settings may name by `%`. */
export type Specifiers = Readonly<Record<string, string>>;

/** One setting, as `Name=value`. */
export type Setting = string;

/** Lines that end in a backslash go on in the next one; comments in between are skipped (systemd.syntax(7)). */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let open = "";
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (/^[#;]/.test(line)) continue;
    if (line.endsWith("\\")) {
      open += `${line.slice(0, -1)} `;
      continue;
    }
    lines.push(`${open}${line}`.trim());
    open = "";
  }
  return open === "" ? lines : [...lines, open.trim()];
}

/** systemd expands them in files and not in what it is told at run time. */
function expand(value: string, specifiers: Specifiers): string | null {
  let known = true;
  const expanded = value.replaceAll(/%(.)/g, (_, letter: string) => {
    if (letter === "%") return "%";
    const text = specifiers[letter];
    if (text === undefined) known = false;
    return text ?? "";
  });
  return known ? expanded : null;
}

/**
 * The settings of `[Service]` that make up the sandbox, in order: later ones add to earlier ones or, when empty, take
 * them back.
 *
 * @param text The unit's files one after the other, as `systemctl cat` prints them
 * @param specifiers Values of the specifiers that can be known; a setting that needs another one is left out
 */
export function sandboxSettings(text: string, specifiers: Specifiers): Setting[] {
  let section = "";
  const settings: Setting[] = [];
  for (const line of logicalLines(text)) {
    const header = /^\[(.+)\]$/.exec(line)?.[1];
    if (header !== undefined) section = header;
    const [, name, value] = /^([A-Za-z0-9]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (section !== "Service" || name === undefined || value === undefined || LIFE.test(name)) continue;
    const expanded = expand(value, specifiers);
    if (expanded !== null) settings.push(`${name}=${expanded}`);
  }
  return settings;
}
