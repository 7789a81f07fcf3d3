/** Replays the runs of the recordings of `exec` in memory, with the events that the original printed as the script of the model and the tools. */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import { refusedCall, ToolRuntime, type ToolContext } from "@colloquy/core/ToolRuntime"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { ConversationStore as Store } from "@colloquy/core/ConversationStore"
import type { ExecOptions } from "../../src/exec/ExecOptions.ts"
import { runExec } from "../../src/exec/RunExec.ts"
import { compare, type Mismatch, type Reading } from "../../../server/test/support/Compare.ts"
import { settingsWith, withCore } from "../../../server/test/support/Harness.ts"
import * as PathStore from "../../../server/test/support/PathStore.ts"
import { at, textAt } from "../../../server/test/support/ThreadNames.ts"
import { type ThreadEntry, threadRecordings } from "../../../server/test/support/ThreadRecording.ts"
import type { WireMessage } from "../../../server/test/support/Wire.ts"

/** The version of the recordings. */
export const version = "0.169.0-exec"

/** The names of the recordings. */
export const names = threadRecordings.flatMap(([name]) => (name.startsWith("exec_") ? [name] : []))

interface Run {
  readonly argv: ReadonlyArray<string>
  readonly stdin: string | undefined
  readonly lines: ReadonlyArray<unknown>
  readonly stderr: ReadonlyArray<string>
  readonly exitCode: number
}

const runsOf = (entries: ReadonlyArray<ThreadEntry>): ReadonlyArray<Run> => {
  const starts = entries.flatMap(({ dir }, index) => (dir === "argv" ? [index] : []))
  return starts.map((from, place) => {
    const own = entries.slice(from, starts[place + 1])
    const of = (dir: ThreadEntry["dir"]) =>
      own.flatMap((entry) => (entry.dir === dir ? [entry.msg] : []))
    const [argv] = of("argv")
    const [stdin] = of("stdin")
    const exit = of("note").find((note) => at(note, "event") === "exit")
    return {
      argv: Array.isArray(argv) ? argv.map(String) : [],
      stdin: typeof stdin === "string" ? stdin : undefined,
      lines: of("stdout"),
      stderr: of("stderr").map(String),
      exitCode: Number(at(exit, "code")),
    }
  })
}

/** Where the recorded runs have their JSON Schema. */
export const schemaPath = "/workspace/s.json"

const withValue = new Set(["-c", "--sandbox", "--output-schema", "-o"])

/** The options of a run, as `ExecArguments` reads them. */
const optionsOf = ([, ...argv]: ReadonlyArray<string>): ExecOptions => {
  const values = new Map<string, string>()
  const words: Array<string> = []
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? ""
    if (withValue.has(word)) values.set(word, argv[++i] ?? "")
    else if (word === "-" || !word.startsWith("-")) words.push(word)
  }
  const isResume = words[0] === "resume"
  const isLast = argv.includes("--last")
  const rest = isResume ? words.slice(isLast ? 1 : 2) : words
  const schema = values.get("--output-schema")
  const [prompt] = rest
  return {
    json: true,
    images: [],
    ephemeral: false,
    skipGitRepoCheck: argv.some((word) => word.startsWith("--skip-git") || word.includes("bypass")),
    color: "never",
    ...(isResume ? { resume: isLast ? "last" : { id: words[1] ?? "" } } : {}),
    ...(prompt === undefined ? {} : { prompt }),
    ...(schema === undefined ? {} : { outputSchema: schema }),
  }
}

// -- what the model and the tools have done

const duration = { secs: 0, nanos: 0 }

const callTypes = new Set(["command_execution", "file_change", "mcp_tool_call", "todo_list"])

const argvOf = (command: string): ReadonlyArray<string> => {
  const [, program, quoted] = /^(\S+) -lc '(.*)'$/s.exec(command) ?? []
  return program === undefined ? [command] : [program, "-lc", quoted ?? ""]
}

/** The events of a call that has become this item. */
const eventsOf = (callId: string, item: unknown): ReadonlyArray<EventMsg> => {
  const call_id = callId
  switch (at(item, "type")) {
    case "command_execution": {
      const output = textAt(item, "aggregated_output")
      const command = argvOf(textAt(item, "command"))
      return [
        { type: "exec_command_begin", call_id, command, cwd: "/workspace" },
        {
          type: "exec_command_end",
          call_id,
          stdout: output,
          stderr: "",
          aggregated_output: output,
          exit_code: Number(at(item, "exit_code")),
          duration,
        },
      ]
    }
    case "file_change": {
      const changes = at(item, "changes")
      const files = (Array.isArray(changes) ? changes : []).map((change) => [
        textAt(change, "path"),
        at(change, "kind") === "add"
          ? { add: { content: "" } }
          : { update: { unified_diff: "", move_path: null } },
      ])
      return [
        {
          type: "patch_apply_begin",
          call_id,
          auto_approved: true,
          changes: Object.fromEntries(files) as Extract<
            EventMsg,
            { readonly type: "patch_apply_begin" }
          >["changes"],
        },
        { type: "patch_apply_end", call_id, stdout: "", stderr: "", success: true },
      ]
    }
    case "mcp_tool_call": {
      const invocation = {
        server: textAt(item, "server"),
        tool: textAt(item, "tool"),
        arguments: at(item, "arguments"),
      }
      const isError = at(item, "status") === "failed"
      return [
        { type: "mcp_tool_call_begin", call_id, invocation },
        {
          type: "mcp_tool_call_end",
          call_id,
          invocation,
          duration,
          result: { Ok: { ...(at(item, "result") as object), ...(isError ? { isError } : {}) } },
        },
      ]
    }
    default: {
      const steps = at(item, "items")
      return [
        {
          type: "plan_update",
          explanation: null,
          plan: (Array.isArray(steps) ? steps : []).map((step) => ({
            step: textAt(step, "text"),
            status: at(step, "completed") === true ? "completed" : "in_progress",
          })),
        },
      ]
    }
  }
}

interface Played {
  readonly replies: ReadonlyArray<Script.ProviderReply>
  readonly tools: ToolRuntime["Service"]
}

const failureOf = (message: string): Script.ProviderReply => {
  const [, status, body = ""] = /^unexpected status (\d+) [^:]*: (.*), url: /.exec(message) ?? []
  if (status !== undefined) return Script.status(Number(status), { body })
  if (message.includes("high demand")) return Script.status(500, { body: "boom" })
  if (message.includes("context window")) {
    const error = { code: "context_length_exceeded", message }
    return Script.reply(Script.event({ type: "response.failed", response: { error } }))
  }
  return Script.reply(Script.drop)
}

const inputTokens = (lines: ReadonlyArray<unknown>): number =>
  Number(at(lines.at(-1), "usage", "input_tokens") ?? 0)

/** Each call is a response of its own; what has no item was refused, and came first. */
const playedBy = (lines: ReadonlyArray<unknown>, before: number): Played => {
  const calls = new Map<string, unknown>()
  const said: Array<Script.ProviderStep> = []
  for (const line of lines) {
    const [type, item] = [at(line, "type"), at(line, "item")]
    const kind = textAt(item, "type")
    const isWhole = kind === "todo_list" ? type !== "item.completed" : type === "item.completed"
    if (callTypes.has(kind) && isWhole) calls.set(`call_${calls.size}`, item)
    if (kind === "reasoning") said.push(Script.reasoning([textAt(item, "text")]))
    if (kind === "agent_message") said.push(Script.text(textAt(item, "text")))
  }
  const failed = lines.find((line) => at(line, "type") === "turn.failed")
  const responses = (inputTokens(lines) - before) / Script.defaultUsage.input
  const refused = Math.max(0, responses - calls.size - 1)
  const run = (callId: string, { emit }: ToolContext) =>
    calls.has(callId)
      ? Effect.as(
          Effect.forEach(eventsOf(callId, calls.get(callId)), emit, { discard: true }),
          "ran",
        )
      : Effect.succeed(refusedCall("refused"))
  return {
    replies: [
      ...Array.from({ length: refused }, (_, i) =>
        Script.reply(Script.toolCall("shell", {}, `refused_${i}`)),
      ),
      ...[...calls.keys()].map((callId) => Script.reply(Script.toolCall("shell", {}, callId))),
      failed === undefined ? Script.reply(...said) : failureOf(textAt(failed, "error", "message")),
    ],
    tools: ToolRuntime.simple({
      specs: () => [],
      run: ({ call_id }, context) => run(call_id ?? "", context),
    }),
  }
}

// -- the comparison

const toMessage = (line: unknown): WireMessage => ({
  method: textAt(line, "type"),
  params: line as Readonly<Record<string, unknown>>,
})

/** Items are numbered by what is no warning: only the original warns of its model list. */
const named = (lines: ReadonlyArray<unknown>): ReadonlyArray<WireMessage> => {
  const ids = new Map<string, string>()
  for (const line of lines) {
    const [id, type] = [textAt(line, "item", "id"), textAt(line, "item", "type")]
    if (id !== "" && type !== "error" && !ids.has(id)) ids.set(id, `<item ${ids.size}>`)
  }
  return lines.map((line) => {
    const text = JSON.stringify(line).replaceAll(/"(item_\d+)"/g, (whole, id: string) =>
      JSON.stringify(ids.get(id) ?? whole.slice(1, -1)),
    )
    return toMessage(
      JSON.parse(text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "http://provider.test")),
    )
  })
}

const detailOf = ({ method = "", params }: WireMessage): string =>
  `${method} ${textAt(params, "item", "type")}`.trim()

const reading: Reading = {
  groups: (messages) => new Map([["run", messages]]),
  labelOf: detailOf,
  keyOf: (message) => `${detailOf(message)} ${textAt(message.params, "item", "id")}`,
}

interface Outcome {
  readonly lines: ReadonlyArray<unknown>
  readonly stderr: ReadonlyArray<string>
  readonly exitCode: number
}

const exitOf = ({ exitCode, stderr }: Outcome): unknown => ({
  type: "exit",
  code: exitCode,
  // Log lines have the time.
  stderr: stderr.filter((line) => !/^\d{4}-/.test(line)),
})

const runOnce = (
  { argv, stderr, stdin }: Run,
  { replies, tools }: Played,
  store: ConversationStore["Service"],
  given: (text: string) => string,
): Effect.Effect<Outcome> => {
  const printed: Array<unknown> = []
  const written: Array<string> = []
  const options = optionsOf(argv.map(given))
  const isRead = stderr.some((line) => line.startsWith("Reading "))
  // The recording of a text that is no UTF-8 has its characters.
  const bytes = stderr.some((line) => line.includes("UTF-16"))
    ? Uint8Array.from([0xff, 0xfe, 0x78, 0])
    : new TextEncoder().encode(stdin ?? "")
  return withCore(
    replies,
    () =>
      Effect.map(
        Effect.exit(
          runExec({
            options,
            sets: () => false,
            report: (events) => printed.push(...events),
            started: () => undefined,
            write: (line) => written.push(line),
            input: {
              kind: isRead ? "pipe" : "none",
              begun: Effect.void,
              read: Effect.succeed(bytes),
            },
            hiddenPaths: [],
            stopped: Effect.never,
          }),
        ),
        (exit): Outcome => {
          if (Exit.isSuccess(exit)) {
            return {
              lines: printed,
              stderr: written,
              exitCode: exit.value.failure === undefined ? 0 : 1,
            }
          }
          const [reason] = exit.cause.reasons
          const message = textAt(reason, "error", "message")
          return { lines: printed, stderr: [...written, `Error: ${message}`], exitCode: 1 }
        },
      ),
    tools,
    settingsWith({ sandbox_mode: "danger-full-access" }, "/workspace"),
    Layer.succeed(Store, store),
  )
}

/** Every mismatch between what the original and Colloquy print in the runs of a recording. */
export const mismatches = (
  name: string,
  files: (path: string, run: number) => string = (path) => path,
): Effect.Effect<ReadonlyArray<Mismatch>> =>
  Effect.scoped(
    Effect.gen(function* () {
      const [, entries = []] = threadRecordings.find(([one]) => one === name) ?? []
      const store = Context.get(yield* Layer.build(PathStore.layer), Store)
      const ids = new Map<string, string>()
      const totals = new Map<string, number>()
      const found: Array<Mismatch> = []
      for (const [place, run] of runsOf(entries).entries()) {
        const thread = textAt(run.lines[0], "thread_id")
        const given = (text: string) => files(ids.get(text) ?? text, place + 1)
        const played = playedBy(run.lines, totals.get(thread) ?? 0)
        totals.set(thread, inputTokens(run.lines))
        const outcome = yield* runOnce(run, played, store, given)
        const ours = textAt(outcome.lines[0], "thread_id")
        if (thread !== "" && !ids.has(thread)) ids.set(thread, ours)
        const mine = [...outcome.lines, exitOf(outcome)].map((line): unknown =>
          JSON.parse(
            JSON.stringify(line)
              .replaceAll(ours === "" ? "no thread" : ours, thread)
              .replaceAll(files(schemaPath, place + 1), schemaPath),
          ),
        )
        const theirs = [...run.lines, exitOf(run)]
        found.push(
          ...compare(named(theirs), named(mine), reading).map((mismatch) => ({
            ...mismatch,
            request: `run ${place + 1}`,
          })),
        )
      }
      return found
    }),
  )
