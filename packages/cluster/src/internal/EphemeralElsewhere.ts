/**
 * What is known about an ephemeral conversation that another node has: no store has it, so that its owner is asked. Fails
 * with `NoSuchConversation` where the owner does not know it either, and in bounded time where the owner does not respond.
 */
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { Access } from "@colloquy/core/ConversationManager"
import type { ConversationSummary } from "@colloquy/core/ConversationStore"
import type { RecordOf } from "@colloquy/core/LogRecord"
import { StoreError } from "@colloquy/core/StoreErrors"
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ConversationCalls } from "../Nodes.ts"
import type { NodeUnreachable } from "../NodeErrors.ts"
import type { Routing } from "./Routing.ts"

/** Asks another node. Callers have a case for a store that cannot be asked, and none for a node. */
const ask = <A, E extends { readonly _tag: string; readonly message: string }>(
  routing: Routing,
  id: ConversationId,
  operation: "metadata" | "read",
  use: (calls: ConversationCalls<NodeUnreachable>) => Effect.Effect<A, E>,
): Effect.Effect<A, NoSuchConversation | StoreError> =>
  routing
    .call(id, ({ calls, isOwn }): Effect.Effect<A, E | NoSuchConversation> =>
      isOwn ? Effect.fail(new NoSuchConversation({ id })) : use(calls),
    )
    .pipe(
      Effect.mapError((error) =>
        error instanceof NoSuchConversation || error instanceof StoreError
          ? error
          : new StoreError({ operation, reason: "Unreachable", message: error.message }),
      ),
    )

/** The metadata. One call, and no statement of the database. */
export const metadataElsewhere = (
  routing: Routing,
  id: ConversationId,
  access: Access | undefined,
): Effect.Effect<ConversationSummary, NoSuchConversation | StoreError> =>
  ask(routing, id, "metadata", (calls) => calls.Metadata({ id, ...defined({ access }) }))

/** The events of its log from this one on. */
export const historyElsewhere = (
  routing: Routing,
  id: ConversationId,
  access: Access | undefined,
  from: number,
): Effect.Effect<ReadonlyArray<RecordOf<"Event">>, NoSuchConversation | StoreError> =>
  ask(routing, id, "read", (calls) =>
    Effect.map(Stream.runCollect(calls.History({ id, from, ...defined({ access }) })), (items) =>
      items.flat(),
    ),
  )
