/** `thread/list`: the stored threads that have a user message, in pages. Loads nothing. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params } from "@colloquy/protocol/Method"
import type { ConversationSummary } from "@colloquy/core/ConversationManager"
import type { ThreadList } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import { internal } from "../../app/AppErrors.ts"
import { ConversationsView } from "../../ConversationsView.ts"
import type { ThreadCall, ThreadHandler } from "../ThreadCall.ts"
import { badValue, storeFailed } from "../ThreadErrors.ts"
import { readStatesOf } from "../ReadStates.ts"
import { threadOf } from "../ThreadObjects.ts"
import { badCursor, cursorAt, isPageCursor, pageOf } from "../ThreadPages.ts"

type ListParams = Params<typeof ThreadList>

/** Enough for the screen of a client; one that wants more asks for it. */
const defaultLimit = 25
/** Most that the store gives at once. */
const maxLimit = 1000

const cwdsOf = ({ cwd }: ListParams): ReadonlyArray<string> =>
  cwd == null ? [] : typeof cwd === "string" ? [cwd] : cwd

/** Kinds of programs without a thread of this one in the list. */
const isOtherSource = ({ sourceKinds }: ListParams): boolean =>
  sourceKinds != null &&
  sourceKinds.length > 0 &&
  !sourceKinds.some((kind) => kind === "vscode" || kind === "appServer")

/** A thread has no parent, section or project: none matches such a filter. */
const isOfNone = ({ parentThreadId, projectId, sectionId }: ListParams): boolean =>
  parentThreadId != null || projectId != null || sectionId != null

const isListed =
  (params: ListParams) =>
  ({ cwd, id, provider = "" }: ConversationSummary): boolean => {
    const cwds = cwdsOf(params)
    const providers = params.modelProviders ?? []
    return (
      (cwds.length === 0 || cwds.includes(cwd)) &&
      (providers.length === 0 || providers.includes(provider)) &&
      params.excludedThreadIds?.includes(id) !== true
    )
  }

const filtersOf = ({ archived, searchTerm }: ListParams) => ({
  withPreview: true,
  archived: archived === true,
  ...(searchTerm == null || searchTerm === "" ? {} : { text: searchTerm }),
})

/** Whether the store itself can give the page: newest first, and not behind a page that it did not give. */
const isPlain = (params: ListParams): boolean =>
  !isPageCursor(params.cursor ?? "") &&
  (params.sortKey ?? "created_at") === "created_at" &&
  params.sortDirection !== "asc" &&
  cwdsOf(params).length === 0 &&
  (params.modelProviders ?? []).length === 0 &&
  (params.excludedThreadIds ?? []).length === 0

interface Listed {
  readonly data: ReadonlyArray<ConversationSummary>
  readonly nextCursor: string | null
  readonly backwardsCursor: string | null
}

const list = Effect.fnUntraced(function* (
  options: NonNullable<Parameters<ConversationsView["Service"]["list"]>[0]>,
) {
  const conversations = yield* ConversationsView
  return yield* Effect.mapError(conversations.list(options), (error) =>
    error._tag === "BadCursor"
      ? badCursor(options.cursor ?? "")
      : error._tag === "StoreError"
        ? storeFailed(error)
        : internal(error.message),
  )
})

/** All that match, oldest first by the sort key. */
const everything = Effect.fnUntraced(function* (
  params: ListParams,
): Effect.fn.Return<ReadonlyArray<ConversationSummary>, JsonRpcError, ConversationsView> {
  const found: Array<ConversationSummary> = []
  let cursor: string | undefined
  do {
    const page = yield* list({
      ...filtersOf(params),
      limit: maxLimit,
      ...(cursor === undefined ? {} : { cursor }),
    })
    found.push(...page.items.filter(isListed(params)))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  const keyOf = ({ createdAtMs, updatedAtMs }: ConversationSummary) =>
    (params.sortKey ?? "created_at") === "created_at" ? createdAtMs : updatedAtMs
  return found.toSorted((one, other) => keyOf(one) - keyOf(other) || (one.id < other.id ? -1 : 1))
})

const pageFor = Effect.fnUntraced(function* (
  params: ListParams,
): Effect.fn.Return<Listed, JsonRpcError, ConversationsView> {
  const limit = Math.min(Math.max(1, params.limit ?? defaultLimit), maxLimit)
  const { cursor } = params
  if (isOtherSource(params) || isOfNone(params))
    return { data: [], nextCursor: null, backwardsCursor: null }
  if (isPlain(params)) {
    const { items, nextCursor = null } = yield* list({
      ...filtersOf(params),
      limit,
      ...(cursor == null ? {} : { cursor }),
    })
    const [first] = items
    return {
      data: items,
      nextCursor,
      backwardsCursor: first === undefined ? null : cursorAt(first.id),
    }
  }
  const sortDirection = params.sortDirection ?? "desc"
  return yield* pageOf(
    yield* everything(params),
    { limit, sortDirection, ...(cursor == null ? {} : { cursor }) },
    ({ id }) => id,
  )
})

const describe = (
  { archived, id }: ConversationSummary,
  { connection }: ThreadCall,
): Effect.Effect<ReturnType<typeof threadOf> | undefined, JsonRpcError, ConversationsView> =>
  Effect.gen(function* () {
    const conversations = yield* ConversationsView
    const summary = yield* conversations.metadata({ id })
    // Reading its log for the status would make a list slow: a thread in memory is idle or active.
    const isLoaded = !archived && connection.registry.isLoaded(id)
    const state = isLoaded ? yield* Effect.option(conversations.stateOf(id)) : undefined
    const loaded = state?._tag === "Some" ? state.value : undefined
    return threadOf(summary, {
      ...(loaded === undefined ? {} : { settings: loaded.settings }),
      status: !isLoaded
        ? { type: "notLoaded" }
        : loaded?.turn !== undefined
          ? { type: "active", activeFlags: [] }
          : { type: "idle" },
      ephemeral: false,
      acceptsInput: false,
    })
  }).pipe(
    Effect.catchTag("NoSuchConversation", () => Effect.undefined),
    Effect.catchTag("StoreError", (error) => Effect.fail(storeFailed(error))),
  )

/** Handler of the method. */
export const threadList: ThreadHandler<typeof ThreadList> = Effect.fnUntraced(
  function* (params, call) {
    if (params.originators != null && params.originators.length > 0) {
      return yield* badValue("originator filtering is not supported by the local app-server")
    }
    const { backwardsCursor, data, nextCursor } = yield* pageFor(params)
    const threads = yield* Effect.forEach(data, (summary) => describe(summary, call))
    return {
      data: threads.filter((thread) => thread !== undefined),
      readStates: call.connection.isExperimental ? yield* readStatesOf(data, call) : null,
      nextCursor,
      backwardsCursor,
    }
  },
)
