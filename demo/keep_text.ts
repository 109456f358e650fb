/**
 * How to drive the fleet that `--keep` leaves running. Pure.
 *
 * @module
 */

/** Where things stand. */
export interface KeptFleet {
  readonly directory: string;
  readonly manifests: string;
  readonly configFile: string;
  readonly natsUrl: string;
}

/**
 * What to type in another terminal, line by line.
 *
 * @param fleet Where things stand
 */
export function keepText({ directory, manifests, configFile, natsUrl }: KeptFleet): string {
  return `
The fleet runs on until you press Ctrl-C here. In another terminal:

  export PATH=${directory}:$PATH FLEETCTL_CONFIG=${configFile}
  cd ${manifests}

  fleetctl get devices                        # who is there, and is it well
  fleetctl describe device device-3           # its upgrade step by step
  fleetctl get releases                       # how far each release has come
  fleetctl watch devices                      # a line for every change

  fleetctl delete release agent-2-0           # the next priority decides: device-2 goes back to 1.3.0, and
                                              # the others stay, since their next release has failed on them
  fleetctl apply -f agent-2-0.yaml            # and device-2 goes to 2.0.0 again

  fleet-updater status --root ${directory}/d1   # what the device itself knows; d1 to d5
  tail -f ${directory}/d1/updater.log           # what its updater and agent log

The login of fleetctl stands in a file beside its configuration. NATS listens on ${natsUrl}.
`;
}
