/** Whether bubblewrap is installed, so that live tests can run confined commands. */
import { spawnSync } from "node:child_process"

export const hasBubblewrap: boolean =
  process.platform === "linux" && spawnSync("bwrap", ["--version"]).status === 0

if (!hasBubblewrap) {
  // oxlint-disable-next-line no-console -- the person who runs the tests has to see what was skipped
  console.warn("bubblewrap is missing, what needs it is skipped: apt-get install bubblewrap")
}
