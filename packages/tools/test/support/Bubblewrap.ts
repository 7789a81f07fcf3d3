/** Whether the live tests can confine anything here. */
import { spawnSync } from "node:child_process"

/** False on macOS and where it is not installed. */
export const hasBubblewrap: boolean =
  process.platform === "linux" && spawnSync("bwrap", ["--version"]).status === 0

if (!hasBubblewrap) {
  // oxlint-disable-next-line no-console -- the user who runs the tests has to see what was skipped
  console.warn("bubblewrap is missing, what needs it is skipped: apt-get install bubblewrap")
}
