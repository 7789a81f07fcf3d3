/**
 * The logs of conversations as the manager uses them: made, and opened and folded page by page (L10, L11, L16), in bounded
 * time. What is leased ends with the scope of the lease.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import {
  CannotResume,
  ConversationUnavailable,
  NoSuchConversation,
  ProviderGone,
} from "../ConversationErrors.ts"
import type { Access } from "../ConversationManager.ts"
import { isVisible } from "./Access.ts"
import type { Entry } from "./Entry.ts"
import type {
  ConversationSettings,
  SettingsError,
  SettingsResolver,
} from "../ConversationSettings.ts"
import { type Recovered, LogFold, type Folded } from "../recovery/LogFold.ts"
import { withinStoreTimeout } from "../store/StoreTimeout.ts"
import type {
  ConversationMeta,
  ConversationStore,
  ConversationSummary,
  LogWriter,
  Position,
} from "../ConversationStore.ts"
import { eventRecord, type LogRecord } from "../LogRecord.ts"
import { toStored } from "../store/Settings.ts"
import type { StoreError } from "../StoreErrors.ts"

/** Records that are read at a time: some hundreds of KiB. */
const pageSize = 1000

export const unavailable = (
  entry: { readonly id: string },
  because: NonNullable<ConversationUnavailable["because"]> | string,
): ConversationUnavailable =>
  typeof because === "string"
    ? new ConversationUnavailable({ id: entry.id, reason: because })
    : new ConversationUnavailable({ id: entry.id, reason: because.message, because })

/** What makes a conversation of its own log. */
export interface Source {
  readonly settings: ConversationSettings
  readonly existing: Recovered
  readonly writer: LogWriter
  /** What was wrong with the log and was put right, for whoever listens. */
  readonly repairs: ReadonlyArray<string>
}

/** What a conversation is made with, beside its settings. */
export interface InitialLog {
  readonly events: ReadonlyArray<Event>
  readonly forkedFrom?: string
}

/** Whoever hears of a conversation hears where it is kept (recording 0.45). */
const withPlace = (event: Event, place: string | undefined): Event =>
  event.msg.type === "session_configured" && place !== undefined
    ? { ...event, msg: { ...event.msg, rollout_path: place } }
    : event

export type Program = Pick<ConversationMeta, "originator" | "version" | "source">

export const make = (
  store: ConversationStore["Service"],
  resolver: SettingsResolver["Service"],
  program: Program,
) => {
  const metaOf = (
    { id, owner }: Entry,
    createdAtMs: number,
    { cwd, model, provider, userInstructions }: ConversationSettings,
    { forkedFrom }: InitialLog,
  ): ConversationMeta => ({
    id,
    createdAtMs,
    cwd,
    ...program,
    provider: provider.id,
    model,
    ...(userInstructions === undefined ? {} : { instructions: userInstructions }),
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    ...(owner === undefined ? {} : { owner }),
  })

  /** Nobody was told of it. */
  const forget = ({ id }: Entry) =>
    withinStoreTimeout("delete", store.delete(id)).pipe(
      Effect.catch((error) => Effect.logWarning(`${id} is left in the store`, error)),
    )

  /** The log of a new conversation: on disk when this returns (L10, R23). */
  const create = Effect.fnUntraced(function* (
    entry: Entry,
    settings: ConversationSettings,
    birth: InitialLog,
    lease: Scope.Scope,
  ): Effect.fn.Return<Source, StoreError> {
    const atMs = yield* Clock.currentTimeMillis
    const meta = metaOf(entry, atMs, settings, birth)
    const place = yield* store.placeOf?.(meta) ?? Effect.succeed(undefined)
    const records: ReadonlyArray<LogRecord> = [
      ...birth.events.map((event) => eventRecord(atMs, withPlace(event, place))),
      { _tag: "Settings", atMs, settings: toStored(settings) },
    ]
    let abandoned = false
    const making = Effect.tap(store.create(meta, records), () =>
      abandoned ? forget(entry) : Effect.void,
    )
    const writer = yield* Scope.provide(withinStoreTimeout("create", making), lease).pipe(
      Effect.tapError(() =>
        Effect.sync(() => {
          abandoned = true
        }),
      ),
    )
    const fold = new LogFold()
    fold.add(records)
    return { settings, existing: fold.finish(), writer, repairs: [] }
  })

  const fold = Effect.fnUntraced(function* (entry: Pick<Entry, "id">) {
    const folding = new LogFold()
    let from: Position | undefined = undefined
    do {
      const page: { readonly records: ReadonlyArray<LogRecord>; readonly next?: Position } =
        yield* withinStoreTimeout(
          "read",
          store.read(entry.id, { max: pageSize, ...(from === undefined ? {} : { from }) }),
        )
      folding.add(page.records)
      from = page.next
    } while (from !== undefined)
    const folded = folding.finish()
    if (folding.fault !== undefined) {
      return yield* unavailable(
        entry,
        `what the store has of it is not a whole log: ${folding.fault}`,
      )
    }
    return folded
  })

  /** The events of a stored conversation. Takes no lease and repairs nothing: another process may be writing it. */
  const history = (path: string, access: Access | undefined) =>
    withinStoreTimeout("metadata", store.metadata({ path })).pipe(
      Effect.filterOrFail(
        ({ meta }) => isVisible(meta, access),
        () => new NoSuchConversation({ id: path }),
      ),
      Effect.flatMap(({ meta: { id } }) =>
        Effect.map(fold({ id }), ({ log }) => ({ id, events: log.all() })),
      ),
      Effect.mapError((error) =>
        error._tag === "NoSuchConversation"
          ? new CannotResume({
              path,
              reason: "expected the path of a stored conversation, and there is none",
            })
          : new CannotResume({
              path,
              reason: error.message,
              ...(error._tag === "StoreError" ? { because: error } : {}),
            }),
      ),
    )

  /** Those it ran with in this process, else what was kept of them, with the configuration of now. */
  const settingsOf = (
    { settings }: Entry,
    { settings: stored }: Folded,
    { meta }: ConversationSummary,
  ): Effect.Effect<ConversationSettings, SettingsError | ProviderGone> => {
    if (settings !== undefined) return Effect.succeed(settings)
    const { cwd, instructions, model } = meta
    const plain =
      stored === undefined
        ? resolver.resolve({ cwd, ...(model === undefined ? {} : { model }) })
        : resolver.resolve({ stored }).pipe(
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
    // What it was told at its beginning stands in its log.
    return Effect.map(plain, ({ userInstructions: _, ...rest }) =>
      instructions === undefined ? rest : { ...rest, userInstructions: instructions },
    )
  }

  /** Takes the lease of a conversation that is there and folds its log. */
  const load = (entry: Entry, lease: Scope.Scope): Effect.Effect<Source, ConversationUnavailable> =>
    Effect.gen(function* () {
      const where = entry.path === undefined ? { id: entry.id } : { path: entry.path }
      const { repairs, summary, writer } = yield* Scope.provide(
        withinStoreTimeout("open", store.open(where)),
        lease,
      )
      if (summary.archived && entry.path === undefined) {
        return yield* unavailable(
          entry,
          "it is archived; unarchive it, or resume it by the path of its file",
        )
      }
      const folded = yield* fold(entry)
      const settings = yield* settingsOf(entry, folded, summary)
      return {
        settings,
        existing: folded,
        writer,
        repairs: repairs.map(({ message }) => message),
      }
    }).pipe(
      Effect.mapError((error) =>
        error instanceof ConversationUnavailable
          ? error
          : unavailable(
              entry,
              error instanceof NoSuchConversation ? "the store has lost it" : error,
            ),
      ),
      Effect.tapError(({ message }) => Effect.logWarning(`not loaded: ${message}`)),
    )

  return { create, forget, history, load }
}

export type Storage = ReturnType<typeof make>
