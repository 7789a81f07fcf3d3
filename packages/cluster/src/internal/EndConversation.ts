/**
 * Removes, archives or unarchives a conversation on the node that has it.
 *
 * A node that was stopped, or a network, may carry a call out long after its caller has turned to another node: each attempt
 * names the revision of the conversation that this node has read before, and is refused once anything else was done with it
 * (L10).
 */
import type { ConversationUnavailable } from "@colloquy/core/ConversationErrors"
import type {
  Access,
  ConversationManager,
  RemoveError,
  UnarchiveError,
} from "@colloquy/core/ConversationManager"
import type { Revision } from "@colloquy/core/ConversationStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { NodeUnreachable } from "../NodeErrors.ts"
import type { Routing } from "./Routing.ts"

/** What the operation needs of this node. */
interface EndingParts {
  readonly routing: Routing
  /** The manager of this process. */
  readonly local: Pick<ConversationManager["Service"], "metadata">
}

/** The errors of each operation. */
interface Errors {
  readonly Remove: RemoveError
  readonly Archive: RemoveError
  readonly Unarchive: UnarchiveError
}

type Ending = keyof Errors

const operations = { Remove: "delete", Archive: "archive", Unarchive: "unarchive" } as const

/** There is no error for what cannot be used: the store cannot be asked. */
const asEndError = (
  ending: Ending,
  error: UnarchiveError | ConversationUnavailable,
): UnarchiveError => {
  if (error._tag !== "ConversationUnavailable") return error
  if (error.because?._tag === "LeaseHeld") return error.because
  const operation = operations[ending]
  return new StoreError({ operation, reason: "Unreachable", message: error.message })
}

/** The revision of a conversation; undefined for one that the store does not have, as an ephemeral one of another node. */
const revisionOf = (
  { local }: EndingParts,
  id: ConversationId,
  access: Access | undefined,
): Effect.Effect<Revision | undefined, StoreError> =>
  local.metadata({ id }, access).pipe(
    Effect.map(({ revision }) => revision),
    Effect.catchTag("NoSuchConversation", () => Effect.undefined),
  )

/** Resolves when the node that has the conversation has done so. Fails with `StoreError` where none can be reached in time. */
export const endConversation = <E extends Ending>(
  parts: EndingParts,
  ending: E,
  id: ConversationId,
  access: Access | undefined,
): Effect.Effect<void, Errors[E]> =>
  Effect.suspend(() => {
    let mayBeRemoved = false
    const attempt = parts.routing.call(id, ({ calls }) =>
      Effect.gen(function* () {
        const revision = yield* revisionOf(parts, id, access)
        // An earlier attempt found it: that, or another client, has removed it.
        if (revision === undefined && mayBeRemoved) return
        const call = calls[ending]({ id, ...defined({ access, revision }) })
        yield* Effect.tapError(call, (error) =>
          Effect.sync(() => {
            const isUnknown = error instanceof NodeUnreachable && revision !== undefined
            if (isUnknown && ending === "Remove") mayBeRemoved = true
          }),
        )
      }),
    )
    // The call fails with the errors of its operation only.
    return Effect.mapError(attempt, (error) => asEndError(ending, error) as Errors[E])
  })
