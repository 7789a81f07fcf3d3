/**
 * Delivers changes of lists and resources to listeners. However much changes, a listener holds at most one change per
 * list and one per subscribed URI until it takes them (L6). The code that reports a change never waits for a listener.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

/** A list that clients can read. `resources` includes the templates. */
export type ListName = "tools" | "prompts" | "resources"

/** A change that clients are notified of. */
export type CatalogChange =
  | { readonly _tag: "ListChanged"; readonly list: ListName }
  | { readonly _tag: "ResourceUpdated"; readonly uri: string }

/** Selects the changes that a listener receives. Evaluated at each change, so it may follow a set that grows and shrinks. */
interface Interest {
  /** On whose behalf the listener acts: it gets no change of what only another principal sees. */
  readonly principal: string
  readonly list: (list: ListName) => boolean
  readonly uri: (uri: string) => boolean
}

interface ChangeListener {
  /**
   * Waits for a change and 100 ms more, then resolves with all changes since the last call, each once, lists first. The
   * additional wait joins simultaneous changes and lets the response to the request that caused them go first (L2).
   */
  readonly take: Effect.Effect<ReadonlyArray<CatalogChange>>
}

/** A source of changes. */
export interface CatalogChanges {
  /** Adds a listener, which is removed when the scope closes. */
  readonly listen: (interest: Interest) => Effect.Effect<ChangeListener, never, Scope.Scope>
  /** Reports that a list has changed, for one principal if there is one, else for all. */
  readonly listChanged: (list: ListName, principal?: string) => void
  /** Reports that the contents of the resource have changed, for one principal if there is one, else for all. */
  readonly updated: (uri: string, principal?: string) => void
}

/** A listener with the changes that it has not taken yet. */
interface Waiting {
  readonly interest: Interest
  readonly lists: Set<ListName>
  readonly uris: Set<string>
  readonly filled: Latch.Latch
}

/** How long simultaneous changes are joined; below what a person notices. */
const window = "100 millis"

const takeAll = ({ filled, lists, uris }: Waiting): ReadonlyArray<CatalogChange> => {
  const changes: ReadonlyArray<CatalogChange> = [
    ...[...lists].map((list) => ({ _tag: "ListChanged" as const, list })),
    ...[...uris].map((uri) => ({ _tag: "ResourceUpdated" as const, uri })),
  ]
  lists.clear()
  uris.clear()
  filled.closeUnsafe()
  return changes
}

const concerns = ({ principal }: Interest, of: string | undefined): boolean =>
  of === undefined || of === principal

const deliver = (
  listeners: Iterable<Waiting>,
  wanted: (interest: Interest) => boolean,
  add: (waiting: Waiting) => void,
) => {
  for (const waiting of listeners) {
    if (!wanted(waiting.interest)) continue
    add(waiting)
    waiting.filled.openUnsafe()
  }
}

/** One source, or several sources combined: a listener of the combination also receives the changes of each source. */
class Hub implements CatalogChanges {
  private readonly listeners = new Set<Waiting>()
  private readonly sources: ReadonlyArray<Hub>

  constructor(sources: ReadonlyArray<Hub>) {
    this.sources = sources
  }

  private attach(waiting: Waiting) {
    this.listeners.add(waiting)
    for (const source of this.sources) source.attach(waiting)
  }

  private detach(waiting: Waiting) {
    this.listeners.delete(waiting)
    for (const source of this.sources) source.detach(waiting)
  }

  listen(interest: Interest) {
    const acquire = Effect.sync(() => {
      const filled = Latch.makeUnsafe(false)
      const waiting: Waiting = { interest, lists: new Set(), uris: new Set(), filled }
      this.attach(waiting)
      return waiting
    })
    return Effect.map(
      Effect.acquireRelease(acquire, (waiting) => Effect.sync(() => this.detach(waiting))),
      (waiting): ChangeListener => ({
        take: waiting.filled.await.pipe(
          Effect.andThen(Effect.sleep(window)),
          Effect.map(() => takeAll(waiting)),
        ),
      }),
    )
  }

  listChanged(list: ListName, principal?: string) {
    deliver(
      this.listeners,
      (interest) => concerns(interest, principal) && interest.list(list),
      ({ lists }) => lists.add(list),
    )
  }

  updated(uri: string, principal?: string) {
    deliver(
      this.listeners,
      (interest) => concerns(interest, principal) && interest.uri(uri),
      ({ uris }) => uris.add(uri),
    )
  }
}

/** A source without listeners. */
export const make = (): CatalogChanges => new Hub([])

/** Combines several sources. A change reported to the combination reaches only the combination's listeners. */
export const merged = (sources: ReadonlyArray<CatalogChanges>): CatalogChanges =>
  new Hub(sources.filter((source) => source instanceof Hub))
