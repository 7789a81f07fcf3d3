/**
 * Who is told that something of the server has changed. Whatever changes and however often, one listener holds at most
 * one notice per list and one per address that it asked for, until it takes them (L6). Never waits for a listener.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

export type ListName = "tools" | "prompts" | "resources"

export type Notice =
  | { readonly _tag: "ListChanged"; readonly list: ListName }
  | { readonly _tag: "ResourceUpdated"; readonly uri: string }

/** What a listener wants to hear of; asked at each change, so it may follow a set that grows and shrinks. */
interface Interest {
  readonly list: (list: ListName) => boolean
  readonly uri: (uri: string) => boolean
}

interface NoticeListener {
  /**
   * Waits for a change and a tenth of a second more, and gives all there are, each once, lists first. The wait
   * gathers what changes together, and lets the answer of the request that changed it go first (L2).
   */
  readonly take: Effect.Effect<ReadonlyArray<Notice>>
}

/** Where listeners are told from. */
export interface Notices {
  readonly listen: (interest: Interest) => Effect.Effect<NoticeListener, never, Scope.Scope>
  readonly listChanged: (list: ListName) => void
  readonly updated: (uri: string) => void
}

interface Waiting {
  readonly interest: Interest
  readonly lists: Set<ListName>
  readonly uris: Set<string>
  readonly filled: Latch.Latch
}

const window = "100 millis"

const takeAll = ({ filled, lists, uris }: Waiting): ReadonlyArray<Notice> => {
  const notices: ReadonlyArray<Notice> = [
    ...[...lists].map((list) => ({ _tag: "ListChanged" as const, list })),
    ...[...uris].map((uri) => ({ _tag: "ResourceUpdated" as const, uri })),
  ]
  lists.clear()
  uris.clear()
  filled.closeUnsafe()
  return notices
}

const tell = (
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

/** Those of one source, or of several that change each on its own. */
class Hub implements Notices {
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
      (waiting): NoticeListener => ({
        take: waiting.filled.await.pipe(
          Effect.andThen(Effect.sleep(window)),
          Effect.map(() => takeAll(waiting)),
        ),
      }),
    )
  }

  listChanged(list: ListName) {
    tell(
      this.listeners,
      (interest) => interest.list(list),
      ({ lists }) => lists.add(list),
    )
  }

  updated(uri: string) {
    tell(
      this.listeners,
      (interest) => interest.uri(uri),
      ({ uris }) => uris.add(uri),
    )
  }
}

export const make = (): Notices => new Hub([])

/** Of several; what is told to it is told to its own listeners alone. */
export const merged = (sources: ReadonlyArray<Notices>): Notices =>
  new Hub(sources.filter((source) => source instanceof Hub))
