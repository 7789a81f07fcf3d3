/** A client that follows the events of one conversation on any server, and connects again where it was cut off. */
import * as Effect from "effect/Effect"
import type { ServerNodes } from "./ServerNodes.ts"

/** See the header. */
export interface Follower {
  readonly conversation: string
  /** Numbers of the events in the order in which they came. */
  readonly seqs: ReadonlyArray<number>
}

const retryMs = 50

/** Reads one stream to its end, and adds the numbers of its events. */
const read = async (
  { all, token }: ServerNodes,
  path: string,
  seqs: Array<number>,
  signal: AbortSignal,
) => {
  const nodes = all()
  const node = nodes[Math.floor(Math.random() * nodes.length)]
  const response = await fetch(`${node?.url}${path}`, {
    signal,
    headers: {
      authorization: `Bearer ${token}`,
      ...(seqs.length === 0 ? {} : { "last-event-id": String(seqs.at(-1)) }),
    },
  })
  if (!response.ok) return
  const decoder = new TextDecoder()
  let rest = ""
  for await (const part of response.body ?? []) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) if (line.startsWith("id: ")) seqs.push(Number(line.slice(4)))
  }
}

/** Follows until the scope closes. */
export const follow = (nodes: ServerNodes, conversation: string, query = "") =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const seqs: Array<number> = []
      const ended = new AbortController()
      const { signal } = ended
      const path = `/v1/conversations/${conversation}/events${query}`
      const loop = async () => {
        while (!signal.aborted) {
          // A stream that breaks off is opened again.
          await read(nodes, path, seqs, signal).catch(() => {})
          await new Promise((done) => setTimeout(done, retryMs))
        }
      }
      return { follower: { conversation, seqs } satisfies Follower, done: loop(), ended }
    }),
    ({ done, ended }) =>
      Effect.promise(() => {
        ended.abort()
        return done
      }),
  ).pipe(Effect.map(({ follower }) => follower))
