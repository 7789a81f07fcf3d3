/** An option of a command for people that takes a text. */
import * as Flag from "effect/cli/Flag"

/** An empty value is usually an unset variable of a script; as in the other commands it is valid for no option. */
export const textFlag = (name: string): Flag.Flag<string> =>
  Flag.String(name).pipe(
    Flag.filter(
      (text) => text.trim() !== "",
      () => "a value that is not empty",
    ),
  )
