/** Helpers that the checks of the official client share. */
import * as Effect from "effect/Effect"
import type { ToolResult } from "../test/support/Server.ts"
import type { Answerer, Way } from "./Driver.ts"

export const textOf = ({ content }: ToolResult) => content[0]?.text ?? ""
export const threadOf = ({ structuredContent }: ToolResult) => structuredContent?.threadId ?? ""

/** Settings that ask for every command and run it without a sandbox: the checks only test the approvals. */
export const asking = ['approval_policy="untrusted"', 'sandbox_mode="danger-full-access"']
export const free = ['approval_policy="never"', 'sandbox_mode="danger-full-access"']

export const connected = (
  { connect, serve }: Way,
  overrides: ReadonlyArray<string>,
  answer?: Answerer,
) =>
  Effect.acquireRelease(
    Effect.flatMap(serve(overrides), (target) => Effect.promise(() => connect(target, answer))),
    (driver) => Effect.promise(() => driver.close()),
  )

/** Polls until `holds` returns true, for conditions that only the client's callbacks change. */
export const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; !holds(); tries++) {
    if (tries === 500) throw new Error("it did not come in ten seconds")
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
