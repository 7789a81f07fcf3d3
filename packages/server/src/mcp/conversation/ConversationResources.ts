/**
 * Conversations as resources: `colloquy://conversations/{id}` with state and items as JSON, and its transcript as
 * Markdown. They are seen by everybody whom the server serves; the principal is at hand for servers of several.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { AttachError, ConversationClosed } from "@colloquy/core/ConversationErrors"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import { parseConversationId } from "@colloquy/protocol/Ids"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Complete } from "../../features/Completion.ts"
import {
  type ListPage,
  type ListRequest,
  ResourceNotFound,
  type ResourceTemplate,
  resourceTemplate,
  type WatchRequest,
} from "../../features/Resource.ts"
import { badCursor } from "../catalog/Cursors.ts"
import { newest, resourceItemsOf } from "./Items.ts"
import { stateOf, statusOf, titled } from "./Look.ts"
import { eventsUntil, isUserMessage } from "./Snapshot.ts"
import { transcriptOf } from "./Transcript.ts"

type Manager = ConversationManager["Service"]

const form = "colloquy://conversations/{id}"

/** Conversations that are looked through for the ids that begin so: newest first. */
const maxSearched = 10_000
const pageLimit = 1000
/** MCP: more are not sent. */
const maxValues = 100

const find = (
  manager: Manager,
  uri: string,
  id: string | undefined,
): Effect.Effect<Conversation, ResourceNotFound | JsonRpcError> => {
  const missing = new ResourceNotFound({ uri })
  const parsed = parseConversationId(id ?? "")
  return "problem" in parsed
    ? Effect.fail(missing)
    : manager.get(parsed.id).pipe(
        // One that cannot be loaded now is there, and may be read later.
        Effect.mapError((error) =>
          error._tag === "ConversationUnavailable"
            ? new JsonRpcError({ code: ErrorCode.internalError, message: error.message })
            : missing,
        ),
      )
}

const read = Effect.fnUntraced(function* (conversation: Conversation) {
  const events = yield* eventsUntil(conversation)
  const first = events.find(isUserMessage)?.msg
  const title = titled(first?.type === "user_message" ? first.message : "")
  return { title, ...newest(resourceItemsOf(events)) }
})

const jsonOf = Effect.fnUntraced(function* (conversation: Conversation) {
  const state = yield* stateOf(conversation)
  const { approvals, seq, settings, turn, usage, waiting } = state
  const { items, omitted, title } = yield* read(conversation)
  return JSON.stringify({
    conversation_id: conversation.id,
    title,
    status: statusOf(state),
    ...(turn === undefined ? {} : { message_id: turn.id }),
    waiting_messages: waiting.length,
    open_questions: approvals.open.length,
    events: seq,
    model: settings.model,
    cwd: settings.cwd,
    approval_policy: settings.approvalPolicy,
    ...(usage === undefined ? {} : { total_tokens: usage.total_tokens }),
    ...(omitted === 0 ? {} : { omitted_items: omitted }),
    items,
  })
})

const markdownOf = (conversation: Conversation) =>
  Effect.map(read(conversation), ({ items, omitted, title }) =>
    transcriptOf(title === "" ? `Conversation ${conversation.id}` : title, items, omitted),
  )

type WatchEnd = AttachError | ListenerEnd | ConversationClosed

/** Newest first, by the beginning of the id. */
const completeId =
  (manager: Manager): Complete<unknown, never> =>
  ({ value }) =>
    Effect.gen(function* () {
      const wanted = value.toLowerCase()
      const values: Array<string> = []
      let cursor: string | undefined
      for (let searched = 0; searched < maxSearched; searched += pageLimit) {
        const page = yield* manager.list({
          limit: pageLimit,
          ...(cursor === undefined ? {} : { cursor }),
        })
        for (const { id } of page.items) {
          if (!id.startsWith(wanted)) continue
          if (values.length === maxValues) return { values, hasMore: true }
          values.push(id)
        }
        cursor = page.nextCursor
        if (cursor === undefined) return { values, total: values.length }
      }
      return { values, hasMore: true }
    })

const listOf =
  (manager: Manager) =>
  ({ cursor, limit }: ListRequest) =>
    Effect.gen(function* () {
      const page = yield* Effect.mapError(
        manager.list({
          limit: Math.min(limit, pageLimit),
          ...(cursor === undefined ? {} : { cursor }),
        }),
        (error) => (error._tag === "BadCursor" ? badCursor() : error),
      )
      const resources = page.items.map(({ id, preview = "" }) => ({
        uri: form.replace("{id}", id),
        name: id,
        ...(preview === "" ? {} : { title: titled(preview) }),
        mimeType: "application/json",
      }))
      const found: ListPage = {
        resources,
        ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
      }
      return found
    })

/** Notifies of every event that is kept, and of each end; after one with a reason, of what the next use brings. */
const watchOf =
  (manager: Manager) =>
  ({ changed, params, uri }: WatchRequest): Effect.Effect<void, unknown, Scope.Scope> =>
    Effect.gen(function* () {
      const conversation = yield* find(manager, uri, params["id"])
      const look = (listener: Listener) =>
        Effect.flatMap(listener.take, (deliveries) =>
          deliveries.some(
            (one) => one._tag === "Lagged" || (one._tag === "Event" && !isEphemeral(one.event.msg)),
          )
            ? changed
            : Effect.void,
        )
      // What happened since is read again in any case, so a later listener needs no number to begin at.
      const again: Effect.Effect<void, WatchEnd> = Effect.andThen(
        conversation.loaded,
        changed,
      ).pipe(
        Effect.andThen(
          Effect.scoped(
            Effect.flatMap(conversation.attach(), (next) => Effect.forever(look(next))),
          ),
        ),
        Effect.catchTag("ConversationUnavailable", () => Effect.andThen(changed, again)),
      )
      const first = yield* conversation.attach()
      yield* Effect.forever(look(first)).pipe(
        Effect.catchTag("ConversationUnavailable", () => Effect.andThen(changed, again)),
        Effect.catch(() => changed),
        Effect.forkScoped({ startImmediately: true }),
      )
    })

/** Of the manager's conversations. */
export const conversationTemplates = (manager: Manager): ReadonlyArray<ResourceTemplate> => {
  const complete = { id: completeId(manager) }
  const watch = watchOf(manager)
  return [
    resourceTemplate({
      uriTemplate: form,
      name: "conversation",
      title: "Conversation",
      description: "The state of a conversation and what was said and done in it.",
      mimeType: "application/json",
      list: listOf(manager),
      complete,
      watch,
      read: ({ params, uri }) => Effect.flatMap(find(manager, uri, params["id"]), jsonOf),
    }),
    resourceTemplate({
      uriTemplate: `${form}/transcript.md`,
      name: "transcript",
      title: "Transcript of a conversation",
      description: "What was said and done in a conversation, to be read by a person.",
      mimeType: "text/markdown",
      complete,
      watch,
      read: ({ params, uri }) => Effect.flatMap(find(manager, uri, params["id"]), markdownOf),
    }),
  ]
}
