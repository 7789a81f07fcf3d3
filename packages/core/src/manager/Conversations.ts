/**
 * The conversations of one process: the layer of the port `ConversationManager`.
 *
 * A conversation is in the `ConversationStore` from its first event on, and everything it does is recorded there first
 * (L10). Memory is bounded: idle conversations are evicted and loaded again when they are used. Closing the layer ends
 * every conversation (L8). `ConversationDirectory` does the work; this module gives it its limits and its names in traces.
 */
import { defined } from "@colloquy/protocol/Defined"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import { ConversationObserver } from "../ConversationObserver.ts"
import { ConversationManager } from "../ConversationManager.ts"
import { type ConversationSettings, SettingsResolver } from "../ConversationSettings.ts"
import { ConversationStore } from "../ConversationStore.ts"
import type { OnTurnCompleted } from "../decider/CompletedTurn.ts"
import { activityOf, type HeldConversation, HeldConversations } from "../HeldConversations.ts"
import { IdGenerator } from "../IdGenerator.ts"
import type { ModelClient } from "../ModelClient.ts"
import type { QuotaOf } from "../Quota.ts"
import { QuotaPlaces } from "../QuotaPlaces.ts"
import { ToolRuntime } from "../ToolRuntime.ts"
import { checkClientTools } from "./ClientToolCheck.ts"
import { ConversationDirectory } from "./directory/ConversationDirectory.ts"
import type { StoredSettings } from "../StoredSettings.ts"
import { withEphemeralLogs } from "../store/EphemeralLogs.ts"
import { requireOneCopy } from "./EffectCopy.ts"
import { type Entry, loadsOf } from "./Entry.ts"
import { LoadedConversations } from "./loaded/LoadedConversations.ts"
import { SharedConversations } from "./SharedConversations.ts"
import { type Program, Storage } from "./Storage.ts"

/** Limits of a manager. Every one has a default. */
export interface ConversationsOptions {
  /**
   * Conversations that this manager created or opened and that were not removed; one more is refused
   * `TooManyConversations`. Default 100,000: the store in memory keeps the events of each.
   */
  readonly maxConversations?: number
  /**
   * Conversations in memory at once. The least recently used idle one is evicted to make room; when none is idle, one
   * more is refused `TooManyConversations`. Default 1,000: at some 6 KiB each, an idle process stays small.
   */
  readonly maxLoaded?: number
  /** Turns that run at once; a submission that would start one more is refused `TooManyTurns`. Default 1,000. */
  readonly maxTurns?: number
  /** Listeners per conversation; one more is refused `TooManyListeners`. Default 1,024. */
  readonly maxListeners?: number
  /**
   * A conversation without use, turn and listener for this long is evicted. Default 5 seconds: a sequence of replies
   * finds it in memory, and the next use of any other loads it in milliseconds.
   */
  readonly idleTimeToLive?: Duration.Input
  /** The program that creates conversations, as recorded in their logs. Default `colloquy`, version `0`. */
  readonly program?: Program
  /** Observes the turns of all conversations that the model has answered to their end. */
  readonly onTurnCompleted?: OnTurnCompleted
  /**
   * The limits of each owner, below those of the process. Default: no owner has any. Counted in this process, or over all
   * that share `QuotaPlaces`.
   */
  readonly quotaOf?: QuotaOf
  /**
   * The settings with which a conversation is loaded, made of those that its log has, such as with another provider. They
   * are recorded with its next turn, or with a change of its settings before that. A rule that changes nothing returns the
   * same object. Default: those of its log.
   */
  readonly storedSettings?: (stored: StoredSettings) => StoredSettings
}

/** See `ConversationsOptions.idleTimeToLive`. */
export const defaultIdleTimeToLive = Duration.seconds(5)

const defaultProgram: Program = { originator: "colloquy", version: "0" }

const storageOf = (options: ConversationsOptions, store: ConversationStore["Service"]) =>
  Effect.map(
    SettingsResolver,
    (resolver) =>
      new Storage({
        store,
        resolver,
        program: options.program ?? defaultProgram,
        ...defined({ storedSettings: options.storedSettings }),
      }),
  )

const make = Effect.fnUntraced(function* (options: ConversationsOptions) {
  yield* requireOneCopy
  const ids = yield* IdGenerator
  const store = withEphemeralLogs(yield* ConversationStore)
  const storage = yield* storageOf(options, store)
  const observer = yield* ConversationObserver
  const quotas = defined({ quotaOf: options.quotaOf, places: yield* QuotaPlaces })
  const inMemory = yield* LoadedConversations.make({
    maxLoaded: options.maxLoaded ?? 1000,
    maxTurns: options.maxTurns ?? 1000,
    maxListeners: options.maxListeners ?? 1024,
    idleTimeToLive: Duration.fromInputUnsafe(options.idleTimeToLive ?? defaultIdleTimeToLive),
    storage,
    ...defined({ observer, onTurnCompleted: options.onTurnCompleted }),
    ...quotas,
  }).pipe(observer === undefined ? identity : Effect.updateContext(observer.observe))
  const conversations = new ConversationDirectory({
    maxConversations: options.maxConversations ?? 100_000,
    ids,
    store,
    storage,
    inMemory,
    ...quotas,
  })
  yield* Effect.forkScoped(inMemory.sweep)
  yield* Effect.addFinalizer(() => conversations.shutdown)
  if (observer !== undefined) {
    const end = observer.measure(() => loadsOf(inMemory.all))
    yield* Effect.addFinalizer(() => Effect.sync(end))
  }
  const shared = new SharedConversations(conversations, store, storage)
  const manager = serviceOf(conversations, shared, yield* ToolRuntime)
  return Context.make(ConversationManager, manager).pipe(
    Context.add(HeldConversations, heldOf(inMemory, shared)),
  )
})

/** A conversation as another process sees it; undefined where none can see it. */
const held = (entry: Entry): Effect.Effect<HeldConversation | undefined> => {
  const { id, isHidden, owner = null, placement } = entry
  return placement._tag !== "Loaded" || isHidden
    ? Effect.undefined
    : Effect.map(placement.loaded.conversation.state, (state) => ({
        id,
        owner,
        activity: activityOf(state),
        isEphemeral: state.settings.ephemeral === true,
      }))
}

/** The conversations of this manager. */
const heldOf = (
  inMemory: LoadedConversations,
  shared: SharedConversations,
): HeldConversations["Service"] => ({
  held: Effect.suspend(() =>
    Effect.map(Effect.forEach(Array.from(inMemory.all), held), (all) =>
      all.filter((one) => one !== undefined),
    ),
  ),
  release: (id) =>
    Effect.suspend(() => {
      const entry = Array.from(inMemory.all).find((one) => one.id === id)
      return entry === undefined ? Effect.void : inMemory.handOver(entry)
    }),
  recordedState: (id, access) => shared.recordedState(id, access),
})

/** What creates conversations, with definitions of clients' tools that are checked first. */
const creatingOf = (
  conversations: ConversationDirectory,
  tools: ToolRuntime["Service"],
): Pick<ConversationManager["Service"], "create" | "createOnSubmit"> => {
  const check = ({ clientTools = [] }: ConversationSettings) => checkClientTools(clientTools, tools)
  return {
    create: Effect.fn("ConversationManager.create")((settings, access) =>
      Effect.andThen(check(settings), conversations.create(settings, access)),
    ),
    createOnSubmit: Effect.fn("ConversationManager.createOnSubmit")((settings, access) =>
      Effect.andThen(check(settings), conversations.createOnSubmit(settings, access)),
    ),
  }
}

const serviceOf = (
  conversations: ConversationDirectory,
  shared: SharedConversations,
  tools: ToolRuntime["Service"],
): ConversationManager["Service"] =>
  ConversationManager.of({
    ...creatingOf(conversations, tools),
    // Without a span: it is on the path of every request.
    get: (id, access) => conversations.get(id, access),
    refer: (id, access) => conversations.get(id, access),
    open: Effect.fn("ConversationManager.open")((path, access) => conversations.open(path, access)),
    follow: (id, options, access) => shared.follow(id, options, access),
    stateOf: Effect.fn("ConversationManager.stateOf")((id, access) => shared.stateOf(id, access)),
    list: Effect.fn("ConversationManager.list")((page) => conversations.list(page)),
    metadata: Effect.fn("ConversationManager.metadata")((address, access) =>
      conversations.metadata(address, access),
    ),
    history: Effect.fn("ConversationManager.history")((id, access, from) =>
      shared.history(id, access, from),
    ),
    remove: Effect.fn("ConversationManager.remove")((id, access, revision) =>
      conversations.ending.releaseAnd("delete", id, access, revision),
    ),
    archive: Effect.fn("ConversationManager.archive")((id, access, revision) =>
      conversations.ending.releaseAnd("archive", id, access, revision),
    ),
    unarchive: Effect.fn("ConversationManager.unarchive")((id, access, revision) =>
      conversations.ending.unarchive(id, access, revision),
    ),
    rename: Effect.fn("ConversationManager.rename")((id, name, access) =>
      shared.rename(id, name, access),
    ),
    fork: Effect.fn("ConversationManager.fork")((id, rule, access, options) =>
      conversations.fork(id, rule, access, options),
    ),
    watch: (listener) => conversations.watchers.watch(listener),
    isClosed: conversations.isClosed,
    shutdown: Effect.withSpan(conversations.shutdown, "ConversationManager.shutdown"),
  })

/** The manager, with these limits. */
export const layerWith = (
  options: ConversationsOptions,
): Layer.Layer<
  ConversationManager | HeldConversations,
  never,
  ModelClient | ToolRuntime | IdGenerator | ConversationStore | SettingsResolver
> => Layer.effectContext(make(options))

/** The manager, with every limit at its default. */
export const layer = layerWith({})
