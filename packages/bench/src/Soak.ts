/**
 * The soak: listeners over server-sent events and WebSockets, one in ten of which never reads, on conversations of two servers
 * that share a state directory and are killed in turn while turns run. Fails when a durable event is lost or comes twice.
 */
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import * as Home from "./Home.ts"
import { SoakServer } from "./soak/SoakServer.ts"
import { SseListener, WebSocketListener } from "./soak/SoakListener.ts"
import * as Stdio from "./Stdio.ts"
import type { Row } from "./Table.ts"
import * as ProviderProcess from "./user/ProviderProcess.ts"

/** Sizes of the soak. */
export interface SoakCounts {
  readonly listeners: number
  readonly conversations: number
  /** Turns of each conversation while servers are killed. */
  readonly turns: number
  /** Turns of each conversation afterwards, in which memory is compared. */
  readonly quietTurns: number
  readonly kills: number
  readonly killEveryMs: number
}

/** Takes some minutes. */
export const full: SoakCounts = {
  listeners: 1000,
  conversations: 200,
  turns: 10,
  quietTurns: 60,
  kills: 6,
  killEveryMs: 8000,
}

/** Takes less than half a minute. */
export const quick: SoakCounts = {
  listeners: 100,
  conversations: 20,
  turns: 4,
  quietTurns: 4,
  kills: 2,
  killEveryMs: 1500,
}

type Listener = SseListener | WebSocketListener

const sleep = (ms: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms)
  })

/** Turns that are under way at once: as many as a process runs by default. */
const maxAtOnce = 32

const mebibyte = 1024 * 1024

/**
 * Difference of the two peaks of a server's memory that is no leak. Between two collections of the old generation memory
 * grows to a multiple of what is in use, so that one figure says nothing; a peak varies with the moment of a collection.
 */
const maxGrowthBytes = 96 * mebibyte

/** How long listeners may take to catch up, and how long a request is repeated. */
const patienceMs = 60_000

/** The state of one soak. */
class Soak {
  readonly listeners: Array<Listener> = []
  private readonly ids: Array<string> = []
  /** The server of each conversation. */
  private readonly homes: Array<SoakServer> = []
  private readonly counts: SoakCounts
  private readonly servers: readonly [SoakServer, SoakServer]
  private readonly token: string

  constructor(counts: SoakCounts, servers: readonly [SoakServer, SoakServer], token: string) {
    this.counts = counts
    this.servers = servers
    this.token = token
  }

  /** Sends a request until it succeeds: a killed server does not respond, and the other one takes over. */
  private async request(at: () => SoakServer, method: string, path: string, body?: object) {
    const untilMs = performance.now() + patienceMs
    for (;;) {
      try {
        const response = await fetch(`${at().url}${path}`, {
          method,
          headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        const text = await response.text()
        if (response.ok) return JSON.parse(text) as Readonly<Record<string, unknown>>
        if (performance.now() > untilMs) throw new Error(`${method} ${path}: ${text}`)
      } catch (error) {
        if (performance.now() > untilMs) throw error
      }
      await sleep(100)
    }
  }

  private homeOf(at: number): SoakServer {
    return this.homes[at] ?? this.servers[0]
  }

  /** Creates the conversations on both servers, and their listeners. */
  async begin(): Promise<void> {
    const { conversations, listeners } = this.counts
    for (let at = 0; at < conversations; at++) {
      this.homes.push(this.servers[at % 2 === 0 ? 0 : 1])
      const made = await this.request(() => this.homeOf(at), "POST", "/v1/conversations", {})
      this.ids.push(String(made["conversationId"]))
    }
    // A conversation is stored with its first input.
    await this.turn("begin")
    for (let n = 0; n < listeners; n++) {
      const at = n % conversations
      const place = {
        token: this.token,
        conversationId: this.ids[at] ?? "",
        url: () => this.homeOf(at).url,
      }
      const isReading = n % 10 !== 9
      const isWebSocket = Math.floor(n / conversations) % 2 === 1
      this.listeners.push(
        isWebSocket ? new WebSocketListener(place, isReading) : new SseListener(place, isReading),
      )
    }
    for (const listener of this.listeners) listener.connect()
  }

  /** One turn in each conversation. */
  async turn(name: string): Promise<void> {
    let next = 0
    const worker = async () => {
      for (let at = next++; at < this.ids.length; at = next++) {
        const id = this.ids[at] ?? ""
        const body = { input: "speak", submissionId: `${name}-${at}` }
        const path = `/v1/conversations/${id}/turns?wait=true`
        await this.request(() => this.homeOf(at), "POST", path, body)
      }
    }
    await Promise.all(Array.from({ length: maxAtOnce }, worker))
  }

  /** Kills the servers in turn; the other one takes over the conversations. */
  async kill(): Promise<void> {
    for (let n = 0; n < this.counts.kills; n++) {
      await sleep(this.counts.killEveryMs)
      const killed = this.servers[n % 2 === 0 ? 0 : 1]
      const other = this.servers[n % 2 === 0 ? 1 : 0]
      await killed.kill()
      this.homes.fill(other)
      await killed.start()
    }
  }

  /** Waits until every listener that reads has every event, and returns what is wrong. */
  async verify(): Promise<ReadonlyArray<string>> {
    const faults: Array<string> = []
    for (const [at, id] of this.ids.entries()) {
      const path = `/v1/conversations/${id}`
      const { nextSeq } = await this.request(() => this.homeOf(at), "GET", path)
      const reading = this.listeners.filter(
        (one, n) => n % this.counts.conversations === at && one.reads,
      )
      const untilMs = performance.now() + patienceMs
      while (reading.some((one) => one.next < Number(nextSeq)) && performance.now() < untilMs) {
        await sleep(50)
      }
      const texts = reading.flatMap((one) => (one instanceof SseListener ? [one.data] : []))
      for (const one of reading) {
        faults.push(...one.faults)
        if (one.next !== Number(nextSeq))
          faults.push(`${id}: ${one.next} of ${String(nextSeq)} events`)
      }
      if (texts.some((data) => JSON.stringify(data) !== JSON.stringify(texts[0]))) {
        faults.push(`${id}: listeners have received different events`)
      }
    }
    return faults
  }

  /** Resident bytes of the server that has the conversations. */
  residentBytes(): number {
    return this.homeOf(0).residentBytes()
  }

  /** Ends every listener. */
  end(): void {
    for (const listener of this.listeners) listener.end()
  }
}

/** Runs turns and resolves to the highest resident memory after one of them, in bytes. */
const turns = async (soak: Soak, name: string, count: number): Promise<number> => {
  let peakBytes = 0
  for (let n = 0; n < count; n++) {
    await soak.turn(`${name}-${n}`)
    peakBytes = Math.max(peakBytes, soak.residentBytes())
  }
  return peakBytes
}

const run = async (soak: Soak, counts: SoakCounts): Promise<ReadonlyArray<Row>> => {
  const startMs = performance.now()
  await soak.begin()
  await Promise.all([turns(soak, "killed", counts.turns), soak.kill()])
  const before = await turns(soak, "first", counts.quietTurns / 2)
  const growth = (await turns(soak, "second", counts.quietTurns / 2)) - before
  const faults = await soak.verify()
  if (faults.length > 0)
    throw new Error(`${faults.length} faults: ${faults.slice(0, 5).join("; ")}`)
  const reading = soak.listeners.filter(({ reads }) => reads)
  const sum = (of: (one: Listener) => number) => reading.reduce((all, one) => all + of(one), 0)
  const mib = (bytes: number) => `${(bytes / mebibyte).toFixed(1)} MiB`
  return [
    {
      name: "durable events received, none lost and none twice",
      value: String(sum(({ next }) => next)),
      beside: `${reading.length} of ${counts.listeners} listeners read; ${counts.kills} kills; ${Math.round((performance.now() - startMs) / 1000)} s`,
    },
    {
      name: "connections of those listeners",
      value: String(sum(({ connections }) => connections)),
      beside: `${sum(({ lagged }) => lagged)} times behind`,
    },
    {
      name: "growth of the peak of memory, without kills",
      value: mib(growth),
      beside: `from ${mib(before)}, ${counts.quietTurns} turns in ${counts.conversations} conversations`,
      aim: { text: `< ${mib(maxGrowthBytes)}`, met: growth < maxGrowthBytes },
    },
  ]
}

/** Runs the soak against the built program. */
export const soak = Effect.fn("bench.soak")(function* (
  counts: SoakCounts,
  entry: string = Stdio.entry,
) {
  const { baseUrl } = yield* ProviderProcess.make(20)
  const environment = yield* Home.make(Home.providerConfig(baseUrl))
  const servers = yield* Effect.acquireRelease(
    Effect.sync(
      () => [new SoakServer(entry, environment), new SoakServer(entry, environment)] as const,
    ),
    (both) => Effect.promise(() => Promise.all(both.map((one) => one.kill()))),
  )
  yield* Effect.promise(() => servers[0].start())
  yield* Effect.promise(() => servers[1].start())
  const token = readFileSync(`${environment["COLLOQUY_HOME"] ?? ""}/http-token`, "utf8").trim()
  const made = yield* Effect.acquireRelease(
    Effect.sync(() => new Soak(counts, servers, token)),
    (one) => Effect.sync(() => one.end()),
  )
  return yield* Effect.promise(() => run(made, counts))
}, Effect.scoped)
