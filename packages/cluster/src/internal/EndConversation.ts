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
import { Elsewhere, NodeUnreachable } from "../NodeErrors.ts"
import type { ConversationCalls } from "../Nodes.ts"
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

/** True for an ephemeral conversation of the node that is called. */
const isEphemeralThere = (
  calls: ConversationCalls<NodeUnreachable>,
  id: ConversationId,
  access: Access | undefined,
) =>
  calls.Metadata({ id, ...defined({ access }) }).pipe(
    Effect.as(true),
    Effect.catchTag("NoSuchConversation", () => Effect.succeed(false)),
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
    const attempt = parts.routing.call(id, ({ calls, isOwn }) =>
      Effect.gen(function* () {
        const revision = yield* revisionOf(parts, id, access)
        // What an archiving is repeated for is there still.
        const isFound =
          revision !== undefined ||
          (ending === "Remove" && !isOwn && (yield* isEphemeralThere(calls, id, access)))
        // An earlier attempt found it: that, or another client, has removed it.
        if (!isFound && mayBeRemoved) return
        const call = calls[ending]({ id, ...defined({ access, revision }) })
        yield* call.pipe(
          Effect.tapError((error) =>
            Effect.sync(() => {
              const isUnknown = error instanceof NodeUnreachable && isFound
              if (isUnknown && ending === "Remove") mayBeRemoved = true
            }),
          ),
          // It was found a moment ago: an earlier attempt has removed it since, or is still removing it and may yet fail.
          Effect.catchTag("NoSuchConversation", (error) =>
            Effect.fail(mayBeRemoved ? new Elsewhere({ id }) : error),
          ),
        )
      }),
    )
    // The call fails with the errors of its operation only.
    return Effect.mapError(attempt, (error) => asEndError(ending, error) as Errors[E])
  })
