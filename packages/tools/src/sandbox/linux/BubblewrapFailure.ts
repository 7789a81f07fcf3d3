/** Advice for a sandbox that does not start, derived from its error text. Pure. */

const install =
  "install bubblewrap 0.8 or newer: apt-get install bubblewrap, dnf install bubblewrap or apk add bubblewrap"

const namespaces =
  "allow user namespaces: sysctl user.max_user_namespaces=15000, on Debian also kernel.unprivileged_userns_clone=1, " +
  "on Ubuntu 24.04 and newer kernel.apparmor_restrict_unprivileged_userns=0 or an AppArmor profile for bwrap"

const container =
  "in a container: start it with what nested sandboxes need (Docker: --security-opt seccomp=unconfined " +
  "--security-opt apparmor=unconfined --security-opt systempaths=unconfined --cap-add SYS_ADMIN), or let the container " +
  'confine the commands and set sandbox_mode = "external-sandbox"'

/** Checked in this order. The texts are those of bubblewrap 0.8 and newer, as seen or as reported in its issues. */
const known: ReadonlyArray<readonly [RegExp, string]> = [
  [/was not found|cannot be used|ENOENT/, install],
  [/Unknown option|disable-userns/i, install],
  [/for this processor/, "run on x64 or arm64"],
  [/No space left|ENOSPC|max_user_namespaces/, namespaces],
  [/RTM_NEWADDR|Failed to make \/ slave/, namespaces],
  [/No permissions to create|Creating new namespace failed/, namespaces],
  [/uid map|Can't mount proc|pivot_root|setting up/i, container],
]

/** Advice in one line; undefined for an unknown text. */
export const knownAdvice = (reason: string): string | undefined =>
  known.find(([pattern]) => pattern.test(reason))?.[1]

/** Advice in one line; for an unknown text the advice that most often helps. */
export const adviceFor = (reason: string): string =>
  knownAdvice(reason) ?? `${container}; otherwise ${install}`
