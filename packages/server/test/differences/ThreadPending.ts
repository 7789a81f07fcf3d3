/**
 * What recordings show and replays cannot: their tools are read off items, and the tool that asks the person makes none.
 * `thread/UserInput.test.ts` tests that part by itself.
 */
import type { Mismatch } from "../support/Compare.ts"
import { anyOf, type Explains } from "./Explain.ts"
import { member, version as shown, whole } from "./ThreadExplain.ts"

/** A part that is not replayed. */
export interface Pending {
  readonly key: string
  /** The recordings that show it, each of them. */
  readonly recordings: ReadonlyArray<string>
  readonly explains: Explains
}

/** True when the part is the reason of this mismatch of a replay. */
export const isPending = (
  { explains, recordings }: Pending,
  version: string,
  recording: string,
  mismatch: Mismatch,
): boolean => version === shown && recordings.includes(recording) && explains(mismatch)

export const pending: ReadonlyArray<Pending> = [
  {
    key: "user-input",
    recordings: ["app_user_input"],
    explains: anyOf(
      whole(
        "missing",
        /^(?:item\/tool\/requestUserInput|serverRequest\/resolved|thread\/status\/changed active)$/,
      ),
      whole("missing", /^warning$/, (m) =>
        String(member(m, "params", "message")).startsWith("Under-development features enabled: "),
      ),
    ),
  },
]
