/**
 * What is run, with every option: the whole policy of an upgrade, compiled in (`Fleet tasks`, TaskRun). Each line has its
 * reason in what other tools had to learn; nothing of it can be passed from outside.
 *
 * @module
 */

/** One program with its arguments. */
export type CommandWords = readonly [program: string, ...args: string[]];

/** Environment of apt and dpkg: nobody is asked anything, and everything speaks the language that is read here. */
export const APT_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  LC_ALL: "C.UTF-8",
  DEBIAN_FRONTEND: "noninteractive",
  DEBIAN_PRIORITY: "critical",
  APT_LISTCHANGES_FRONTEND: "none",
  APT_LISTBUGS_FRONTEND: "none",
  // The reboot restarts everything; until then nothing may restart the agent under the upgrade's feet.
  NEEDRESTART_SUSPEND: "1",
  UCF_FORCE_CONFFOLD: "1",
};

/** A changed configuration file stays as it is, without a question, which dpkg would ask all the same. */
const DPKG_FORCE = ["--force-confdef", "--force-confold"] as const;

/** For every call: what a site's own configuration must not change, and bounds on the network. */
const COMMON: readonly string[] = [
  "-q",
  "-o",
  "APT::Color=0",
  "-o",
  "Dpkg::Use-Pty=0",
  "-o",
  "Acquire::Retries=3",
  "-o",
  "Acquire::http::Timeout=30",
  "-o",
  "Acquire::https::Timeout=30",
  // Never a package that nobody signed, an older one, or one that a person has put on hold.
  "-o",
  "APT::Get::AllowUnauthenticated=false",
  "-o",
  "Acquire::AllowInsecureRepositories=false",
  "-o",
  "Acquire::AllowDowngradeToInsecureRepositories=false",
  "-o",
  "APT::Get::allow-downgrades=false",
  "-o",
  "APT::Get::allow-remove-essential=false",
  "-o",
  "APT::Get::allow-change-held-packages=false",
  "-o",
  "APT::Get::force-yes=false",
  // Nothing goes but what an upgrade itself replaces.
  "-o",
  "APT::Get::AutomaticRemove=false",
  "-o",
  "APT::Get::Purge=false",
  // A run has canaries of its own: phasing by machine id would leave them without what they are to try.
  "-o",
  "APT::Get::Always-Include-Phased-Updates=true",
];

const FORCE_OPTIONS: readonly string[] = DPKG_FORCE.flatMap((option) => ["-o", `Dpkg::Options::=${option}`]);

function lockWait(seconds: number): string[] {
  return ["-o", `DPkg::Lock::Timeout=${seconds}`];
}

/** Refreshes the package index; one source that cannot be fetched makes it fail. */
export function refreshCommand(): CommandWords {
  return ["apt-get", "update", ...COMMON, "--error-on=any"];
}

/** Says what an upgrade would do; needs no lock. */
export function simulateCommand(): CommandWords {
  return ["apt-get", "full-upgrade", ...COMMON, "--simulate"];
}

/** Lists the archives that an upgrade would fetch; needs no lock. */
export function listArchivesCommand(): CommandWords {
  return ["apt-get", "full-upgrade", ...COMMON, "--assume-yes", "--print-uris"];
}

/**
 * Fetches the archives.
 *
 * @param lockTimeoutS How long another package manager is waited for, in s
 */
export function downloadCommand(lockTimeoutS: number): CommandWords {
  return ["apt-get", "full-upgrade", ...COMMON, ...lockWait(lockTimeoutS), "--assume-yes", "--download-only"];
}

/**
 * Upgrades every package.
 *
 * @param lockTimeoutS How long another package manager is waited for, in s
 * @param mayRemove Whether a package may go; what was not simulated is refused
 */
export function upgradeCommand(lockTimeoutS: number, mayRemove: boolean): CommandWords {
  const removal = mayRemove ? [] : ["--no-remove"];
  return [
    "apt-get",
    "full-upgrade",
    ...COMMON,
    ...lockWait(lockTimeoutS),
    ...FORCE_OPTIONS,
    "--assume-yes",
    ...removal,
  ];
}

/** dpkg waits for no lock: it is asked again as long as that is what it fails for. */
const CONFIGURE = `
end=$(($(date +%s) + $1)); shift
while :; do
  said=$("$@" 2>&1 >/dev/null); code=$?
  if [ -n "$said" ]; then printf '%s\\n' "$said" >&2; fi
  case "$code $said" in 2*lock*) ;; *) exit "$code" ;; esac
  if [ "$(date +%s)" -ge "$end" ]; then exit "$code"; fi
  sleep 5
done`;

/**
 * Configures what an interrupted run left, with the same answers as an upgrade.
 *
 * @param lockTimeoutS How long another package manager is waited for, in s
 */
export function configureCommand(lockTimeoutS: number): CommandWords {
  return ["sh", "-c", CONFIGURE, "dpkg --configure", `${lockTimeoutS}`, "dpkg", ...DPKG_FORCE, "--configure", "-a"];
}

/** Lists packages that are not in a final state. */
export function auditCommand(): CommandWords {
  return ["dpkg", "--audit"];
}

/** Removes fetched archives. */
export function cleanCommand(): CommandWords {
  return ["apt-get", "clean"];
}

/** Folders that must take a file before anything begins. */
const WRITABLE = ["/var/lib/dpkg", "/var/lib/apt/lists", "/var/cache/apt/archives", "/usr", "/etc", "/boot"] as const;

/** Prints the folders that are there and take no file. */
export function writableCommand(): CommandWords {
  const script = 'for folder; do if [ -d "$folder" ]; then ' +
    'probe=$(mktemp "$folder/.fleet-probe-XXXXXX" 2>/dev/null) && rm -f "$probe" || echo "$folder"; fi; done';
  return ["sh", "-c", script, "write test", ...WRITABLE];
}

/**
 * A command's name for people: the program and its verb, without its options.
 *
 * @param words The command
 */
export function commandName([program, verb = "", , name = ""]: CommandWords): string {
  // A script is named for what it does.
  return program === "sh" ? name : `${program} ${verb}`;
}
