/** The machine of a recording of app-server v2: commands, files, searches and the configuration give what the recorded responses show. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type ConfigCheck, ConfigCheckPort } from "../../src/thread/host/ports/ConfigCheckPort.ts"
import { HostFailed, HostPort } from "../../src/app/ports/HostPort.ts"
import { CommandPort, type Commands } from "../../src/thread/host/ports/CommandPort.ts"
import {
  ConfigFailed,
  ConfigPort,
  type HostConfig,
} from "../../src/thread/host/ports/ConfigPort.ts"
import { FilePort, type Files, noFiles } from "../../src/thread/host/ports/FilePort.ts"
import type { Entry } from "./Recording.ts"
import { at, textAt } from "./ThreadNames.ts"
import { read, type WireMessage } from "./Wire.ts"

interface Exchange {
  readonly params: unknown
  readonly answer: WireMessage
}

/** The requests of these methods with their responses, in order. */
const exchangesOf = (
  entries: ReadonlyArray<Entry>,
  ...methods: ReadonlyArray<string>
): Array<Exchange> => {
  const answers = new Map(
    entries.flatMap((entry) =>
      entry.dir === "s2c" && entry.message.method === undefined
        ? [[entry.message.id, entry.message] as const]
        : [],
    ),
  )
  return entries.flatMap((entry) => {
    if (entry.dir !== "c2s" || !methods.some((method) => entry.text.includes(`"${method}"`))) {
      return []
    }
    const { id, method = "", params } = read(entry.text)
    const answer = answers.get(id)
    return answer === undefined || !methods.includes(method) ? [] : [{ params, answer }]
  })
}

const sleepOf = ([program, duration]: ReadonlyArray<string>) =>
  program === "sleep" ? (`${Number(duration)} seconds` as const) : undefined

/** True for a command that the recorded client ends. */
const endedByClient = (entries: ReadonlyArray<Entry>, processId: unknown): boolean =>
  processId !== undefined &&
  exchangesOf(entries, "command/exec/terminate").some(
    ({ params }) => at(params, "processId") === processId,
  )

/** What the command has written, as it was notified. */
const outputOf = (entries: ReadonlyArray<Entry>, processId: unknown): ReadonlyArray<Uint8Array> =>
  entries.flatMap((entry) =>
    entry.dir === "s2c" && at(entry.message.params, "processId") === processId
      ? [Result.getOrThrow(Base64.decode(String(at(entry.message.params, "deltaBase64"))))]
      : [],
  )

const commandsOf = (entries: ReadonlyArray<Entry>): Commands => {
  const exchanges = exchangesOf(entries, "command/exec")
  return {
    run: ({ argv, input, onOutput }) =>
      Effect.gen(function* () {
        const index = exchanges.findIndex(
          ({ answer, params }) =>
            JSON.stringify(at(params, "command")) === JSON.stringify(argv) &&
            (answer.error === undefined || answer.error.code === -32603),
        )
        const [exchange] = index === -1 ? [] : exchanges.splice(index, 1)
        const spawned = /^failed to spawn command: (.*)$/s.exec(
          exchange?.answer.error?.message ?? "",
        )
        if (spawned !== null) return yield* new HostFailed({ message: spawned[1] ?? "" })
        const { processId } = { processId: undefined, ...(exchange?.params as object) }
        if (endedByClient(entries, processId)) {
          for (const bytes of outputOf(entries, processId)) yield* onOutput("stdout", bytes)
          return yield* Effect.never
        }
        if (input !== undefined) {
          yield* Stream.runForEach(input, (bytes) => onOutput("stdout", bytes))
        }
        const sleep = sleepOf(argv)
        const result = exchange?.answer.result
        const exitCode = Number(at(result, "exitCode") ?? 1)
        // 124: the command was ended before.
        if (sleep !== undefined && exitCode === 0) yield* Effect.sleep(sleep)
        return {
          exitCode,
          stdout: textAt(result, "stdout"),
          stderr: textAt(result, "stderr"),
        }
      }),
  }
}

const reasons: Readonly<Record<string, ConfigFailed["reason"]>> = {
  configVersionConflict: "conflict",
  configValidationError: "invalid",
  configLayerReadonly: "readonly",
}

const configOf = (entries: ReadonlyArray<Entry>): HostConfig => {
  const reads = exchangesOf(entries, "config/read")
  // What the protocol itself refuses never reaches the port.
  const writes = exchangesOf(entries, "config/value/write", "config/batchWrite").filter(
    ({ answer: { error } }) => error === undefined || error.data !== undefined,
  )
  const layers = reads.map(({ answer }) => at(answer.result, "layers")).find(Array.isArray) ?? []
  return {
    read: Effect.sync(() => {
      const result = reads.shift()?.answer.result
      return { config: {}, origins: {}, ...result, layers }
    }),
    write: () =>
      Effect.suspend(() => {
        const { error, result } = writes.shift()?.answer ?? {}
        return error === undefined
          ? Effect.succeed({
              version: String(at(result, "version")),
              filePath: String(at(result, "filePath")),
            })
          : Effect.fail(
              new ConfigFailed({
                reason: reasons[String(at(error.data, "config_write_error_code"))] ?? "unavailable",
                message: error.message,
              }),
            )
      }),
  }
}

/** The fault that the original warned of. */
const checkOf = (entries: ReadonlyArray<Entry>): ConfigCheck => ({
  warning: Effect.succeed(
    entries.flatMap((entry) =>
      entry.dir === "s2c" && entry.message.method === "configWarning"
        ? [String(at(entry.message.params, "summary"))]
        : [],
    )[0],
  ),
})

const filesOf = (entries: ReadonlyArray<Entry>): Files => ({
  ...noFiles,
  read: (path) =>
    Effect.sync(() => {
      const [found] = exchangesOf(entries, "fs/readFile").filter(
        ({ params }) => at(params, "path") === path,
      )
      const bytes = Base64.decode(String(at(found?.answer.result, "dataBase64")))
      return Result.getOrThrow(bytes)
    }),
})

/** Searches, and no diff. */
export const hostOf = (entries: ReadonlyArray<Entry>): HostPort["Service"] => ({
  ...HostPort.none,
  searchFiles: ({ query, roots }) =>
    Effect.sync(() => {
      const [found] = exchangesOf(entries, "fuzzyFileSearch").filter(
        ({ params }) =>
          at(params, "query") === query &&
          JSON.stringify(at(params, "roots")) === JSON.stringify(roots),
      )
      return at(found?.answer.result, "files") as Effect.Success<
        ReturnType<HostPort["Service"]["searchFiles"]>
      >
    }),
})

/** The context with the ports of that machine. */
export const machineOf = (entries: ReadonlyArray<Entry>) =>
  Context.make(CommandPort, commandsOf(entries)).pipe(
    Context.add(ConfigPort, configOf(entries)),
    Context.add(ConfigCheckPort, checkOf(entries)),
    Context.add(FilePort, filesOf(entries)),
  )
