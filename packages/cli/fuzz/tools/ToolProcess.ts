/**
 * A tool server as a process in memory: it writes one part of a script after each request that it reads, and after
 * `behave` it answers as a correct server does.
 */
import { requestText, successText } from "@colloquy/protocol/JsonRpc"
import { Initialize, Ping, ToolsCall, ToolsList } from "@colloquy/protocol/mcp/CodexMcp"
import { concat, encode } from "@colloquy/simulation/fuzz/Bytes"
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Spawner from "effect/process/ChildProcessSpawner"
import * as Queue from "effect/Queue"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"

const utf8 = new TextDecoder()

interface Read {
  readonly id?: string | number
  readonly method?: string
}

const goodTool = { name: "good", inputSchema: { type: "object", properties: {} } }

/** The result that a correct server returns for a request. */
const goodResult = (method: string): unknown => {
  switch (method) {
    case Initialize._tag:
      return {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "good", version: "1" },
      }
    case ToolsList._tag:
      return { tools: [goodTool] }
    case ToolsCall._tag:
      return { content: [{ type: "text", text: "good" }] }
    default:
      return {}
  }
}

/** One started process. */
class ServerProcess {
  readonly output: Queue.Queue<Uint8Array, Cause.Done>
  readonly ended = Deferred.makeUnsafe<Spawner.ExitCode>()
  read = ""

  constructor(output: Queue.Queue<Uint8Array, Cause.Done>) {
    this.output = output
  }

  write(bytes: Uint8Array): Effect.Effect<void> {
    return bytes.length === 0 ? Effect.void : Effect.asVoid(Queue.offer(this.output, bytes))
  }

  readonly end = Effect.suspend(() =>
    Effect.andThen(Queue.end(this.output), Deferred.succeed(this.ended, Spawner.ExitCode(0))),
  )
}

/** A tool server that can be started repeatedly. */
export class ToolProcess {
  private parts: Array<Uint8Array> = []
  private isGood = false
  private life: ServerProcess | undefined

  /** Sets the script: the input is split into parts that each end with a line that holds a response. */
  script(input: Uint8Array): void {
    this.isGood = false
    this.parts = []
    let from = 0
    for (let at = input.indexOf(0x0a); at !== -1; at = input.indexOf(0x0a, at + 1)) {
      if (!/"(?:result|error)"/.test(utf8.decode(input.subarray(from, at)))) continue
      this.parts.push(input.subarray(from, at + 1))
      from = at + 1
    }
    this.parts.push(input.subarray(from))
  }

  /** Writes the rest of the script; from then on the server answers correctly. */
  readonly behave: Effect.Effect<void> = Effect.suspend(() => {
    this.isGood = true
    const rest = concat(...this.parts.splice(0), encode("\n"))
    return this.life === undefined ? Effect.void : this.life.write(rest)
  })

  /** Sends a request of the server, to check that it is answered. */
  ask(id: string): Effect.Effect<void> {
    const text = requestText(id, Ping._tag, {})
    return this.life === undefined ? Effect.void : this.life.write(encode(`${text}\n`))
  }

  /** Everything that the running process has read so far. */
  get read(): string {
    return this.life?.read ?? ""
  }

  private onText(life: ServerProcess, text: string): Effect.Effect<void> {
    life.read += text
    const requests = text.split("\n").flatMap((line): ReadonlyArray<Read> => {
      if (line === "") return []
      const message = JSON.parse(line) as Read
      return message.method !== undefined && message.id !== undefined ? [message] : []
    })
    return Effect.forEach(
      requests,
      ({ id = 0, method = "" }) =>
        this.isGood
          ? life.write(encode(`${successText(id, goodResult(method))}\n`))
          : life.write(this.parts.shift() ?? new Uint8Array()),
      { discard: true },
    )
  }

  /** Starts a process whatever the command is. */
  readonly spawner = Spawner.make(() =>
    Effect.gen({ self: this }, function* () {
      const life = new ServerProcess(yield* Queue.unbounded<Uint8Array, Cause.Done>())
      this.life = life
      yield* Effect.addFinalizer(() => life.end)
      return Spawner.makeHandle({
        pid: Spawner.ProcessId(1_000_000),
        stdout: Stream.fromQueue(life.output),
        stderr: Stream.empty,
        all: Stream.empty,
        stdin: Sink.forEach((bytes: Uint8Array) => this.onText(life, utf8.decode(bytes))),
        exitCode: Deferred.await(life.ended),
        isRunning: Effect.sync(() => !Deferred.isDoneUnsafe(life.ended)),
        kill: () => life.end,
        getInputFd: () => Sink.drain,
        getOutputFd: () => Stream.empty,
        unref: Effect.succeed(Effect.void),
      })
    }),
  )
}
