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
export interface Interest {
  readonly list: (list: ListName) => boolean
  readonly uri: (uri: string) => boolean
}

export interface NoticeListener {
  /** Waits for changes and gives all there are since the last time, each once, lists first. */
  readonly take: Effect.Effect<ReadonlyArray<Notice>>
}

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

export const make = (): Notices => {
  const listeners = new Set<Waiting>()
  return {
    listen: (interest) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => {
            const waiting: Waiting = {
              interest,
              lists: new Set(),
              uris: new Set(),
              filled: Latch.makeUnsafe(false),
            }
            listeners.add(waiting)
            return waiting
          }),
          (waiting) => Effect.sync(() => listeners.delete(waiting)),
        ),
        (waiting) => ({
          take: Effect.map(waiting.filled.await, () => takeAll(waiting)),
        }),
      ),
    listChanged: (list) => {
      for (const waiting of listeners) {
        if (!waiting.interest.list(list)) continue
        waiting.lists.add(list)
        waiting.filled.openUnsafe()
      }
    },
    updated: (uri) => {
      for (const waiting of listeners) {
        if (!waiting.interest.uri(uri)) continue
        waiting.uris.add(uri)
        waiting.filled.openUnsafe()
      }
    },
  }
}
