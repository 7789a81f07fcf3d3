/** What a person may do about a sandbox that does not start, from the words it failed with. Pure. */

const install =
  "install bubblewrap 0.8 or newer: apt-get install bubblewrap, dnf install bubblewrap or apk add bubblewrap"

const namespaces =
  "allow user namespaces: sysctl user.max_user_namespaces=15000, on Debian also kernel.unprivileged_userns_clone=1, " +
  "on Ubuntu 24.04 and newer kernel.apparmor_restrict_unprivileged_userns=0 or an AppArmor profile for bwrap"

const container =
  "in a container: start it with what nested sandboxes need (Docker: --security-opt seccomp=unconfined " +
  "--security-opt apparmor=unconfined --security-opt systempaths=unconfined --cap-add SYS_ADMIN), or let the container " +
  'confine the commands and set sandbox_mode = "external-sandbox"'

/** In this order; words of bubblewrap 0.8 and newer as seen or as told in its issues. */
const known: ReadonlyArray<readonly [RegExp, string]> = [
  [/was not found|cannot be used|ENOENT/, install],
  [/Unknown option|disable-userns/i, install],
  [/for this processor/, "run on x64 or arm64"],
  [/No space left|ENOSPC|max_user_namespaces/, namespaces],
  [/RTM_NEWADDR|Failed to make \/ slave/, namespaces],
  [/No permissions to create|Creating new namespace failed/, namespaces],
  [/uid map|Can't mount proc|pivot_root|setting up/i, container],
]

/** One line; undefined for words that are not known. */
export const knownAdvice = (reason: string): string | undefined =>
  known.find(([pattern]) => pattern.test(reason))?.[1]

/** One line. */
export const adviceFor = (reason: string): string =>
  knownAdvice(reason) ?? `${container}; otherwise ${install}`
