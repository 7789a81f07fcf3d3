/**
 * Conversations as resources: `colloquy://conversations/{id}` with state and items as JSON, and its transcript as
 * Markdown. A client sees the conversations of its principal. Reads conversations and changes none.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationsView } from "../../ConversationsView.ts"
import type {
  AttachError,
  ConversationClosed,
  ConversationUnavailable,
} from "@colloquy/core/ConversationErrors"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { run } from "@colloquy/core/listeners/Listening"
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
import { inUse } from "../../InUse.ts"
import { badCursor } from "../catalog/Cursors.ts"
import { eventsOf } from "./ConversationEvents.ts"
import { stateOf, statusFields } from "./ConversationStatus.ts"
import { isUserMessage, titleOf } from "./ConversationTitle.ts"
import { newest, resourceItemsOf } from "./Items.ts"
import { transcriptOf } from "./Transcript.ts"

type Conversations = ConversationsView["Service"]

/** The conversations of a principal. */
type ConversationsOf = (principal: string) => Conversations

/** URI template of a conversation. */
const form = "colloquy://conversations/{id}"

/** Number of conversations, newest first, among which a completion looks for ids with the given beginning. */
const maxSearched = 10_000
/** Conversations per page of the conversations's list. */
const pageLimit = 1000
/** Largest number of values in one completion, set by the Model Context Protocol. */
const maxValues = 100

const notLoaded = (error: ConversationUnavailable): JsonRpcError => {
  const data = inUse(error)
  const { message } = error
  return new JsonRpcError({
    code: ErrorCode.internalError,
    message,
    ...(data === undefined ? {} : { data }),
  })
}

const find = (
  conversations: Conversations,
  uri: string,
  id: string | undefined,
): Effect.Effect<Conversation, ResourceNotFound | JsonRpcError> => {
  const missing = new ResourceNotFound({ uri })
  const parsed = parseConversationId(id ?? "")
  return "problem" in parsed
    ? Effect.fail(missing)
    : conversations.get(parsed.id).pipe(
        // A conversation that cannot be loaded now exists, and may be read later.
        Effect.mapError((error) =>
          error._tag === "ConversationUnavailable" ? notLoaded(error) : missing,
        ),
      )
}

/** The title and the newest items of the conversation. */
const read = Effect.fnUntraced(function* (conversation: Conversation) {
  const events = yield* eventsOf(conversation)
  const first = events.find(isUserMessage)?.msg
  const title = titleOf(first?.type === "user_message" ? first.message : "")
  return { title, ...newest(resourceItemsOf(events)) }
})

const jsonOf = Effect.fnUntraced(function* (conversation: Conversation) {
  const state = yield* stateOf(conversation)
  const { items, omitted, title } = yield* read(conversation)
  return JSON.stringify({
    conversation_id: conversation.id,
    title,
    ...statusFields(state),
    ...(omitted === 0 ? {} : { omitted_items: omitted }),
    items,
  })
})

const markdownOf = (conversation: Conversation) =>
  Effect.map(read(conversation), ({ items, omitted, title }) =>
    transcriptOf(title === "" ? `Conversation ${conversation.id}` : title, items, omitted),
  )

type WatchEnd = AttachError | ListenerEnd | ConversationClosed

/** Ids that start with the given value, those of the newest conversations first. */
const completeId =
  (conversations: ConversationsOf): Complete<unknown, never> =>
  ({ context, value }) =>
    Effect.gen(function* () {
      const wanted = value.toLowerCase()
      const values: Array<string> = []
      let cursor: string | undefined
      for (let searched = 0; searched < maxSearched; searched += pageLimit) {
        const page = yield* conversations(context.principal).list({
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
  (conversations: ConversationsOf) =>
  ({ context, cursor, limit }: ListRequest) =>
    Effect.gen(function* () {
      const page = yield* Effect.mapError(
        conversations(context.principal).list({
          limit: Math.min(limit, pageLimit),
          ...(cursor === undefined ? {} : { cursor }),
        }),
        (error) => (error._tag === "BadCursor" ? badCursor() : error),
      )
      const resources = page.items.map(({ id, name, preview = "" }) => ({
        uri: form.replace("{id}", id),
        name: id,
        ...(name === undefined && preview === "" ? {} : { title: titleOf(name ?? preview) }),
        mimeType: "application/json",
      }))
      const found: ListPage = {
        resources,
        ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
      }
      return found
    })

/** Calls `changed` after every durable event, and where events were skipped. */
const watchListener = (listener: Listener, changed: Effect.Effect<void>) => {
  let isChanged = false
  return run(listener, {
    event: ({ msg }) => {
      if (!isEphemeral(msg)) isChanged = true
    },
    lagged: () => {
      isChanged = true
    },
    taken: () => {
      if (!isChanged) return
      isChanged = false
      return changed
    },
  })
}

/**
 * Notifies of every durable event and of the end of the conversation. A conversation that is evicted, or that the store
 * cannot record now, is watched again once it is loaded.
 */
const watchOf =
  (conversations: ConversationsOf) =>
  ({ changed, params, principal, uri }: WatchRequest): Effect.Effect<void, unknown, Scope.Scope> =>
    Effect.gen(function* () {
      const conversation = yield* find(conversations(principal), uri, params["id"])
      // A notified client reads the resource anew, so a later listener may begin with the next event.
      const attachAndWatch = Effect.scoped(
        Effect.flatMap(conversation.attach(), (next) => watchListener(next, changed)),
      )
      const again: Effect.Effect<void, WatchEnd> = conversation.loaded.pipe(
        Effect.andThen(changed),
        Effect.andThen(attachAndWatch),
        Effect.catchTag("ConversationUnavailable", () => Effect.andThen(changed, again)),
      )
      const first = yield* conversation.attach()
      yield* watchListener(first, changed).pipe(
        Effect.catchTag("ConversationUnavailable", () => Effect.andThen(changed, again)),
        Effect.catch(() => changed),
        Effect.forkScoped({ startImmediately: true }),
      )
    })

/** The templates of both resources; each request sees the conversations of its principal. */
export const conversationTemplates = (
  conversations: ConversationsOf,
): ReadonlyArray<ResourceTemplate> => {
  const complete = { id: completeId(conversations) }
  const watch = watchOf(conversations)
  return [
    resourceTemplate({
      uriTemplate: form,
      name: "conversation",
      title: "Conversation",
      description: "The state of a conversation and what was said and done in it.",
      mimeType: "application/json",
      list: listOf(conversations),
      complete,
      watch,
      read: ({ context, params, uri }) =>
        Effect.flatMap(find(conversations(context.principal), uri, params["id"]), jsonOf),
    }),
    resourceTemplate({
      uriTemplate: `${form}/transcript.md`,
      name: "transcript",
      title: "Transcript of a conversation",
      description: "What was said and done in a conversation, to be read by a person.",
      mimeType: "text/markdown",
      complete,
      watch,
      read: ({ context, params, uri }) =>
        Effect.flatMap(find(conversations(context.principal), uri, params["id"]), markdownOf),
    }),
  ]
}
