/** Whether the live tests can use Landlock here: the sandbox is probed once per test file. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import { makeDirectories, sandboxStatus } from "../sandbox/Fixture.ts"
import { hasBubblewrap } from "./Bubblewrap.ts"

/** The reason why named pipes are not blocked; absent when they are. */
const open: string | undefined = hasBubblewrap
  ? await Effect.runPromise(
      Effect.flatMap(makeDirectories(), sandboxStatus).pipe(
        Effect.map((status) => {
          if (status._tag === "Unavailable") return status.reason
          return status.namedPipes._tag === "Open" ? status.namedPipes.reason : undefined
        }),
        Effect.scoped,
        Effect.provide(NodeServices.layer),
      ),
    )
  : "bubblewrap is missing"

export const hasLandlock = open === undefined

if (!hasLandlock) {
  // oxlint-disable-next-line no-console -- the person who runs the tests has to see what was skipped
  console.warn(
    `Landlock cannot be used, what needs it is skipped: ${open}; COLLOQUY_SETPRIV names a setpriv of util-linux 2.40 or newer`,
  )
}
