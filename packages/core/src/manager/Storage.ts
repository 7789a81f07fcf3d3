/**
 * The logs of conversations as the manager uses them: created, opened and folded page by page (L10, L11, L16). Each call
 * of the store ends in bounded time. The lease of a log is held until the scope that the caller passes closes.
 *
 * Never keeps a log in memory, and never decides when a conversation is loaded or evicted.
 */
import { defined } from "@colloquy/protocol/Defined"
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Scope from "effect/Scope"
import {
  CannotResume,
  ConversationArchived,
  ConversationUnavailable,
  holderOf,
  NoSuchConversation,
  ProviderGone,
} from "../ConversationErrors.ts"
import type { Access, GetError } from "../ConversationManager.ts"
import type {
  ConversationSettings,
  SettingsError,
  SettingsResolver,
} from "../ConversationSettings.ts"
import type {
  ConversationMeta,
  ConversationStore,
  ConversationSummary,
  LogWriter,
  Position,
} from "../ConversationStore.ts"
import { eventRecord, type LogRecord } from "../LogRecord.ts"
import type { State } from "../decider/State.ts"
import type { ForkSource } from "../recovery/Fork.ts"
import { type Folded, LogFold, type Recovered } from "../recovery/LogFold.ts"
import { restoreState } from "../recovery/RestoreState.ts"
import type { StoredSettings } from "../StoredSettings.ts"
import { toStored, withStored } from "../store/Settings.ts"
import { withinStoreTimeout } from "../store/StoreTimeout.ts"
import { StoreError } from "../StoreErrors.ts"
import { isVisible } from "./Access.ts"
import type { Entry } from "./Entry.ts"
import type { InitialLog } from "./directory/InitialLog.ts"
import { UncreatedLog } from "./UncreatedLog.ts"

/** Records per page of a log: some hundreds of KiB. */
const pageSize = 1000

/** The error for a conversation that exists and cannot be used, with its cause. */
export const unavailable = (
  { id }: { readonly id: string },
  because: NonNullable<ConversationUnavailable["because"]>,
  reason = because.message,
): ConversationUnavailable => new ConversationUnavailable({ id, reason, because })

/** The cause for a log in which events are missing or that cannot be folded. */
export const damaged = (problem: string): StoreError =>
  new StoreError({
    operation: "read",
    reason: "Damaged",
    message: `its log is damaged: ${problem}`,
  })

/** A store that cannot say whether it has the conversation makes it unavailable. */
export const orUnavailable = (
  name: string,
  finding: Effect.Effect<Entry, GetError | StoreError>,
): Effect.Effect<Entry, GetError> =>
  Effect.catchTag(finding, "StoreError", (error) => Effect.fail(unavailable({ id: name }, error)))

/** What a conversation is started with: its settings, its folded log and the right to append to it. */
export interface LogSource {
  readonly settings: ConversationSettings
  readonly existing: Recovered
  readonly writer: LogWriter
  /** Texts about what was wrong with the log and was repaired. Delivered to listeners as warnings. */
  readonly repairs: ReadonlyArray<string>
  /** The records of `existing`, where the first append of `writer` creates the log. */
  readonly unrecorded?: ReadonlyArray<LogRecord>
}

/** The program that creates conversations, as recorded in their logs. */
export type Program = Pick<ConversationMeta, "originator" | "version" | "source">

/** `session_configured` carries the path of the rollout file (`packages/docs/wire/events.md`). */
const withPath = (event: Event, path: string | undefined): Event =>
  event.msg.type === "session_configured" && path !== undefined
    ? { ...event, msg: { ...event.msg, rollout_path: path } }
    : event

const foldOf = (records: ReadonlyArray<LogRecord>): Recovered => {
  const fold = new LogFold()
  fold.add(records)
  return fold.finish()
}

const cannotResume = (
  path: string,
  error: NoSuchConversation | StoreError | ConversationUnavailable,
): CannotResume =>
  error._tag === "NoSuchConversation"
    ? new CannotResume({ path, reason: "expected the path of a stored conversation" })
    : new CannotResume({
        path,
        reason: error.message,
        ...defined({ because: error._tag === "StoreError" ? error : undefined }),
      })

/** Why a log is not loaded. */
type LoadError =
  | ConversationUnavailable
  | NoSuchConversation
  | NonNullable<ConversationUnavailable["because"]>

const notLoaded = (entry: Pick<Entry, "id">, error: LoadError): ConversationUnavailable => {
  if (error instanceof ConversationUnavailable) return error
  return error instanceof NoSuchConversation
    ? unavailable(entry, error, "conversation log not found")
    : unavailable(entry, error)
}

/** The logs of the conversations of one manager. */
export class Storage {
  private readonly store: ConversationStore["Service"]
  private readonly resolver: SettingsResolver["Service"]
  private readonly program: Program
  private readonly loadedWith: (stored: StoredSettings) => StoredSettings

  constructor(parts: {
    readonly store: ConversationStore["Service"]
    readonly resolver: SettingsResolver["Service"]
    readonly program: Program
    readonly storedSettings?: (stored: StoredSettings) => StoredSettings
  }) {
    this.store = parts.store
    this.resolver = parts.resolver
    this.program = parts.program
    this.loadedWith = parts.storedSettings ?? identity
  }

  /**
   * Creates the log of a new conversation. Resolves when it is on disk, synced (L10). Fails, and leaves no log: one that
   * the store creates after the time limit is deleted then.
   */
  create(
    entry: Entry,
    settings: ConversationSettings,
    initialLog: InitialLog,
    lease: Scope.Scope,
  ): Effect.Effect<LogSource, StoreError> {
    return Effect.gen({ self: this }, function* () {
      const { meta, records } = yield* this.beginningOf(entry, settings, initialLog)
      const writer = yield* this.createLog(entry, meta, records, lease)
      return { settings, existing: foldOf(records), writer, repairs: [] }
    })
  }

  /**
   * Like `create`, but the first append creates the log, with the first records of the conversation and those of the
   * append as one batch. `onCreated` runs when that is on disk.
   */
  createOnSubmit(
    entry: Entry,
    settings: ConversationSettings,
    initialLog: InitialLog,
    lease: Scope.Scope,
    onCreated: Effect.Effect<void>,
  ): Effect.Effect<LogSource> {
    return Effect.map(this.beginningOf(entry, settings, initialLog), ({ meta, records }) => ({
      settings,
      existing: foldOf(records),
      writer: new UncreatedLog((all) => this.createLog(entry, meta, all, lease), onCreated),
      repairs: [],
      unrecorded: records,
    }))
  }

  /** Deletes the log of a conversation that no client knows. A failure is logged and leaves the log in the store. */
  deleteUnknown({ id }: Entry): Effect.Effect<void> {
    return withinStoreTimeout("delete", this.store.delete(id)).pipe(
      Effect.catch((error) => Effect.logWarning(`log of conversation ${id} not deleted`, error)),
    )
  }

  /**
   * The id and the log of a stored conversation. Takes no lease and repairs nothing, because another process may
   * append to the log. The conversation of another owner is treated as unknown.
   */
  history(
    path: string,
    access: Access | undefined,
  ): Effect.Effect<{ readonly id: ConversationId; readonly source: ForkSource }, CannotResume> {
    return withinStoreTimeout("metadata", this.store.metadata({ path })).pipe(
      Effect.filterOrFail(
        ({ meta }) => isVisible(meta, access),
        () => new NoSuchConversation({ id: path }),
      ),
      Effect.flatMap(({ meta: { id } }) =>
        Effect.map(this.fold({ id }), ({ log }) => ({
          id,
          source: { events: log.all(), timeOf: (seq: number) => log.timeOf(seq) },
        })),
      ),
      Effect.mapError((error) => cannotResume(path, error)),
    )
  }

  /**
   * The state at the end of the log. Takes no lease and repairs nothing, because another process may append to the log. The
   * conversation of another owner is treated as unknown.
   */
  state(
    entry: Pick<Entry, "id">,
    access: Access | undefined,
  ): Effect.Effect<State, ConversationUnavailable | NoSuchConversation> {
    return Effect.gen({ self: this }, function* () {
      const { id } = entry
      const summary = yield* withinStoreTimeout("metadata", this.store.metadata({ id }))
      if (!isVisible(summary.meta, access)) return yield* new NoSuchConversation({ id })
      if (summary.archived) return yield* unavailable(entry, new ConversationArchived())
      const existing = yield* this.fold(entry)
      return restoreState(yield* this.storedSettings(existing, summary), existing)
    }).pipe(
      Effect.mapError((error) =>
        error instanceof NoSuchConversation ? error : notLoaded(entry, error),
      ),
    )
  }

  /**
   * Takes the lease of a stored conversation, repairs its log and folds it. A failure is also logged: at level Debug where
   * another process has the lease, since callers may try again and again until it has given it back.
   */
  load(entry: Entry, lease: Scope.Scope): Effect.Effect<LogSource, ConversationUnavailable> {
    return this.openLog(entry, lease).pipe(
      Effect.mapError((error) => notLoaded(entry, error)),
      Effect.tapError((error) =>
        Effect.logWithLevel(holderOf(error) === undefined ? "Warn" : "Debug")(
          `conversation not loaded: ${error.message}`,
        ),
      ),
    )
  }

  private openLog(entry: Entry, lease: Scope.Scope): Effect.Effect<LogSource, LoadError> {
    return Effect.gen({ self: this }, function* () {
      const address = entry.path === undefined ? { id: entry.id } : { path: entry.path }
      const { repairs, summary, writer } = yield* Scope.provide(
        withinStoreTimeout("open", this.store.open(address)),
        lease,
      )
      if (summary.archived && entry.path === undefined) {
        return yield* unavailable(entry, new ConversationArchived())
      }
      const existing = yield* this.fold(entry)
      const settings = yield* this.settingsOf(entry, existing, summary)
      return { settings, existing, writer, repairs: repairs.map(({ message }) => message) }
    })
  }

  /** What the log of a new conversation begins with. */
  private beginningOf(
    entry: Entry,
    settings: ConversationSettings,
    initialLog: InitialLog,
  ): Effect.Effect<{
    readonly meta: ConversationMeta
    readonly records: ReadonlyArray<LogRecord>
  }> {
    return Effect.gen({ self: this }, function* () {
      const atMs = yield* Clock.currentTimeMillis
      const meta = this.metaOf(entry, atMs, settings, initialLog)
      const path = yield* this.store.placeOf?.(meta) ?? Effect.succeed(undefined)
      const records: ReadonlyArray<LogRecord> = [
        ...initialLog.events.map((one) => eventRecord(one.atMs ?? atMs, withPath(one.event, path))),
        { _tag: "Settings", atMs, settings: toStored(settings) },
      ]
      return { meta, records }
    })
  }

  private metaOf(
    { id, owner }: Entry,
    createdAtMs: number,
    { cwd, ephemeral, model, provider, userInstructions }: ConversationSettings,
    { forkedFrom }: InitialLog,
  ): ConversationMeta {
    return {
      id,
      createdAtMs,
      cwd,
      ...this.program,
      provider: provider.id,
      model,
      ...defined({
        instructions: userInstructions,
        forkedFrom,
        owner,
        ephemeral: ephemeral === true ? ephemeral : undefined,
      }),
    }
  }

  private createLog(
    entry: Entry,
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
    lease: Scope.Scope,
  ): Effect.Effect<LogWriter, StoreError> {
    let isAbandoned = false
    const create = Effect.tap(this.store.create(meta, records), () =>
      isAbandoned ? this.deleteUnknown(entry) : Effect.void,
    )
    return Scope.provide(withinStoreTimeout("create", create), lease).pipe(
      Effect.tapError(() =>
        Effect.sync(() => {
          isAbandoned = true
        }),
      ),
    )
  }

  private fold(
    entry: Pick<Entry, "id">,
  ): Effect.Effect<Folded, StoreError | NoSuchConversation | ConversationUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const fold = new LogFold()
      let from: Position | undefined = undefined
      do {
        const page: { readonly records: ReadonlyArray<LogRecord>; readonly next?: Position } =
          yield* withinStoreTimeout(
            "read",
            this.store.read(entry.id, { max: pageSize, ...defined({ from }) }),
          )
        fold.add(page.records)
        from = page.next
      } while (from !== undefined)
      const { settings, ...folded } = fold.finish()
      if (fold.fault !== undefined) return yield* unavailable(entry, damaged(fold.fault))
      if (settings === undefined) return folded
      const loaded = this.loadedWith(settings)
      return { ...folded, settings: loaded, hasOtherSettings: loaded !== settings }
    })
  }

  /**
   * The settings of the last eviction from this process, with what the log has: another process may have changed it since.
   * Otherwise the stored ones, with the provider of that id as it is configured now; for a log without settings those of a
   * new conversation in its directory.
   */
  private settingsOf(
    { settings }: Entry,
    existing: Folded,
    summary: ConversationSummary,
  ): Effect.Effect<ConversationSettings, SettingsError | ProviderGone> {
    const { settings: stored } = existing
    if (settings === undefined) return this.storedSettings(existing, summary)
    if (stored === undefined) return Effect.succeed(settings)
    return stored.provider === settings.provider.id
      ? Effect.succeed(withStored(settings, stored))
      : this.storedSettings(existing, summary)
  }

  private storedSettings(
    { settings: stored }: Folded,
    { meta }: ConversationSummary,
  ): Effect.Effect<ConversationSettings, SettingsError | ProviderGone> {
    const { cwd, instructions, model } = meta
    const resolved =
      stored === undefined
        ? this.resolver.resolve({ cwd, ...defined({ model }) })
        : this.resolver.resolve({ stored }).pipe(
            Effect.mapError((error) =>
              error.key === "model_provider"
                ? new ProviderGone({ provider: stored.provider })
                : error,
            ),
            Effect.filterOrFail(
              ({ provider }) => provider.id === stored.provider,
              () => new ProviderGone({ provider: stored.provider }),
            ),
          )
    // The log says which AGENTS.md texts the conversation started with; those of now do not count.
    return Effect.map(resolved, ({ userInstructions: _, ...rest }) => ({
      ...rest,
      ...defined({ userInstructions: instructions }),
    }))
  }
}
