/**
 * A process that exchanges one JSON text per line over its standard streams, timed from outside. It ends with its
 * scope (L8).
 *
 * Nothing is parsed while the time is taken: both processes share the cores, so the reader's work would slow the server.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { processorMs, residentBytes } from "./process/ProcessUsage.ts"
import { checkAnswers, written } from "./Requests.ts"

type Child = ChildProcessByStdio<Writable, Readable, null>

/** A program to start with this Node. */
export interface Command {
  /** Arguments of `process.execPath`. */
  readonly args: ReadonlyArray<string>
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
}

/** Duration from the first byte written to the arrival of the last byte of the response. */
interface Timed {
  readonly ms: number
  /** Everything that was read; the line of the response is the last. */
  readonly chunks: ReadonlyArray<Buffer>
}

/** Many requests, from the first byte written to the arrival of the last byte of the last response. */
export interface Flood {
  readonly ms: number
  /** Processor time of this process, which writes the requests and counts the responses. */
  readonly clientMs: number
}

/** A started process. */
export interface LineProcess {
  /** Time at which the process was started, on the clock of `performance.now`. */
  readonly bornAtMs: number
  /** Sends one request and resolves with its response. One call at a time; the line break is added. */
  readonly call: (text: string) => Effect.Effect<Timed>
  /** Sends one text and resolves when `marker`, which occurs once in a line, has been read so many times. */
  readonly callUntil: (text: string, marker: string, times: number) => Effect.Effect<Timed>
  /**
   * Sends `count` requests with the ids from 0 on, `inFlight` of them at a time. They are encoded before the time is
   * taken, and their responses are checked after it: each id must occur once, with a result.
   */
  readonly flood: (
    textOf: (id: number) => string,
    count: number,
    inFlight: number,
  ) => Effect.Effect<Flood>
  /** Resident memory in bytes; undefined on systems without `/proc`. */
  readonly residentBytes: () => number | undefined
  /** Processor time used so far; undefined on systems without `/proc`. */
  readonly processorMs: () => number | undefined
}

const lineFeed = 0x0a

const maxLeaveMs = 2000

/** Responses have no `method`; no other message of Colloquy begins like this. The SDK writes `result` first. */
const isResponse = (line: Buffer): boolean => {
  const head = line.toString("latin1", 0, 24)
  return head.startsWith('{"jsonrpc":"2.0","id":') || head.startsWith('{"result":')
}

const exited = (child: Child) => child.exitCode !== null || child.signalCode !== null

/** Closes the input, so that the process exits by itself: only then does Node write its compile cache for the next start. */
const leave = (child: Child) =>
  Effect.callback<void>((resume) => {
    if (exited(child) || child.pid === undefined) return resume(Effect.void)
    const timer = setTimeout(() => child.kill("SIGKILL"), maxLeaveMs)
    child.once("exit", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    child.stdin.end()
  })

const start = (command: Command) => {
  const bornAtMs = performance.now()
  const child = spawn(process.execPath, command.args, {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, ...command.env },
  })
  return { child, bornAtMs }
}

/** Reads until `onChunk` returns true; it is a defect when the process ends before. */
const readUntil = <A>(child: Child, begin: (done: (value: A) => void) => (chunk: Buffer) => void) =>
  Effect.callback<A>((resume) => {
    const stop = () => {
      child.stdout.removeListener("data", onData)
      child.removeListener("close", onClose)
    }
    const onClose = () => {
      stop()
      resume(Effect.die(new Error(`the process ended with ${child.exitCode ?? child.signalCode}`)))
    }
    child.once("close", onClose)
    const onData = begin((value) => {
      stop()
      resume(Effect.succeed(value))
    })
    child.stdout.on("data", onData)
    return Effect.sync(stop)
  })

const call = (child: Child, text: string) =>
  readUntil<Timed>(child, (done) => {
    const chunks: Array<Buffer> = []
    /** The unfinished line. */
    let open: ReadonlyArray<Buffer> = []
    const startedAtMs = performance.now()
    child.stdin.write(`${text}\n`)
    return (chunk) => {
      chunks.push(chunk)
      const last = chunk.lastIndexOf(lineFeed)
      if (last === -1) {
        open = [...open, chunk]
        return
      }
      const before = last === 0 ? -1 : chunk.lastIndexOf(lineFeed, last - 1)
      const line =
        before === -1 ? Buffer.concat([...open, chunk]) : chunk.subarray(before + 1, last)
      open = [chunk.subarray(last + 1)]
      if (isResponse(line)) done({ ms: performance.now() - startedAtMs, chunks })
    }
  })

const callUntil = (child: Child, text: string, marker: string, times: number) =>
  readUntil<Timed>(child, (done) => {
    const chunks: Array<Buffer> = []
    let left = times
    /** The last characters read, because a marker can span two chunks. */
    let tail = Buffer.alloc(0)
    const startedAtMs = performance.now()
    child.stdin.write(`${text}\n`)
    return (chunk) => {
      chunks.push(chunk)
      const seam = Buffer.concat([tail, chunk.subarray(0, marker.length - 1)])
      if (tail.length > 0 && seam.includes(marker)) left--
      for (let at = chunk.indexOf(marker); at !== -1; at = chunk.indexOf(marker, at + 1)) left--
      tail = Buffer.concat([tail, chunk.subarray(-marker.length + 1)]).subarray(-marker.length + 1)
      // The remaining part of that line.
      if (left <= 0 && chunk.at(-1) === lineFeed) {
        done({ ms: performance.now() - startedAtMs, chunks })
      }
    }
  })

const flood = (
  child: Child,
  textOf: (id: number) => string,
  count: number,
  inFlight: number,
): Effect.Effect<Flood> =>
  Effect.suspend(() => {
    const { bytes, starts } = written(textOf, count)
    const chunks: Array<Buffer> = []
    return Effect.map(
      readUntil<Flood>(child, (done) => {
        let sent = 0
        let answered = 0
        const send = (more: number) => {
          const from = sent
          sent = Math.min(count, sent + more)
          if (sent > from) child.stdin.write(bytes.subarray(starts[from], starts[sent]))
        }
        const before = process.cpuUsage()
        const startedAtMs = performance.now()
        send(inFlight)
        return (chunk) => {
          chunks.push(chunk)
          const seen = answered
          for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) {
            answered++
          }
          if (answered < count) return send(answered - seen)
          const ms = performance.now() - startedAtMs
          const { system, user } = process.cpuUsage(before)
          done({ ms, clientMs: (system + user) / 1000 })
        }
      }),
      (timed) => {
        checkAnswers(chunks, count)
        return timed
      },
    )
  })

/** Starts the process; its standard error is discarded. */
export const make = (command: Command): Effect.Effect<LineProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => start(command)),
    ({ child }) => leave(child),
  ).pipe(
    Effect.map(({ child, bornAtMs }) => {
      // Writing to a process that has ended: the call that waits for its response reports that.
      child.stdin.on("error", () => {})
      return {
        bornAtMs,
        call: (text) => call(child, text),
        callUntil: (text, marker, times) => callUntil(child, text, marker, times),
        flood: (textOf, count, inFlight) => flood(child, textOf, count, inFlight),
        residentBytes: () => residentBytes(child.pid),
        processorMs: () => processorMs(child.pid),
      }
    }),
  )

/** Milliseconds from start to exit of a process without output. */
export const timeToExit = (args: ReadonlyArray<string>): Effect.Effect<number> =>
  Effect.callback((resume) => {
    const startedAtMs = performance.now()
    const child = spawn(process.execPath, args, { stdio: "ignore" })
    child.once("exit", () => resume(Effect.succeed(performance.now() - startedAtMs)))
    return Effect.sync(() => {
      child.kill("SIGKILL")
    })
  })
