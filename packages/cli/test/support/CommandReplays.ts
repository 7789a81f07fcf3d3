/**
 * Replays recordings against the built program, with a provider on loopback, a real workspace and a real `config.toml`.
 * These are the recordings with commands that really run, and those about the start of the program, its files and its
 * network.
 */
import { compared } from "../../../server/test/support/Replaying.ts"
import type { Mismatch } from "../../../server/test/support/Compare.ts"
import * as Recording from "../../../server/test/support/Recording.ts"
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { provided } from "./Home.ts"
import * as Server from "./Server.ts"

export const version = "0.29.0-commands"

interface CommandReplay {
  /** Derives the `config.toml` of the recording from the usual one. */
  readonly config?: (usual: string) => string
  /** For each turn, its commands: the model makes one tool call per command, then sends the text `done`. */
  readonly commands: ReadonlyArray<ReadonlyArray<string>>
  /** If present, the model requests to run the commands outside the sandbox, with this justification if any. */
  readonly escalated?: { readonly justification?: string }
  readonly env?: Readonly<Record<string, string>>
  /** Creates the files of the workspace. */
  readonly prepare?: (workspace: string) => void
}

const message = (role: "user" | "assistant", type: string, text: string) => ({
  type: "message",
  role,
  content: [{ type, text }],
})

/** The rollout file of a conversation, as version 0.29 wrote it. */
const stored = [
  {
    id: "7131ad0d-4bd9-4020-ac73-15f189592e97",
    timestamp: "2026-11-22T15:33:29.265Z",
    instructions: null,
  },
  message("user", "input_text", "an earlier question"),
  message("assistant", "output_text", "an earlier answer"),
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("")

const resumed = (path: string): CommandReplay => ({
  commands: [],
  config: (usual) => `experimental_resume = "${path}"\n${usual}`,
  prepare: (workspace) => writeFileSync(join(workspace, "old.jsonl"), stored),
})

/** The replays, by recording name. `/workspace` and `/state` are replaced by the directories of the replay. */
export const commandReplays: Readonly<Record<string, CommandReplay>> = {
  safe_command_escalated: {
    commands: [["echo", "hello"]],
    escalated: { justification: "just reading" },
  },
  directory_link: {
    commands: [["touch", "made.txt"]],
    escalated: {},
    prepare: (workspace) => {
      mkdirSync(join(workspace, "real"))
      symlinkSync("real", join(workspace, "link"))
    },
  },
  writable_path: {
    commands: [["own-tool"]],
    escalated: {},
    env: { PATH: `/workspace/bin:${process.env["PATH"]}` },
    prepare: (workspace) => {
      mkdirSync(join(workspace, "bin"))
      writeFileSync(join(workspace, "bin", "own-tool"), "#!/bin/sh\necho ran\n", { mode: 0o755 })
    },
  },
  written_output_order: {
    commands: [["bash", "-lc", "echo partial; echo oops >&2; exit 3"]],
  },
  hidden_state: { commands: [["cat", "/state/auth.json"]] },
  secret_variables: {
    commands: ["DATABASE_URL", "MONKEY", "MY_SECRET"].map((name) => ["printenv", name]),
    env: { DATABASE_URL: "postgres://user:password@host/db", MONKEY: "ape", MY_SECRET: "s" },
  },
  notify_argument: { commands: [["ls"]] },
  notify_writable: {
    commands: [["ls"]],
    config: (usual) => `notify = ["/workspace/notifier"]\n${usual}`,
    prepare: (workspace) => {
      const program = `#!/bin/sh\ntouch ${workspace}/notified\n`
      writeFileSync(join(workspace, "notifier"), program, { mode: 0o755 })
    },
  },
  no_provider: { commands: [], config: () => "" },
  refused: {
    commands: [],
    config: (usual) =>
      usual
        // No process listens on this port.
        .replace(/base_url = ".*"/, 'base_url = "http://127.0.0.1:9/v1"')
        .replace("stream_max_retries = 0", "stream_max_retries = 2"),
  },
  resume_outside: resumed("/workspace/old.jsonl"),
  resume_relative: resumed("old.jsonl"),
}

const scriptOf = (
  { commands, escalated }: CommandReplay,
  place: (text: string) => string,
): Script.ProviderScript => [
  ...commands.map((command) =>
    Script.reply(
      Script.toolCall(
        "shell",
        {
          command: command.map(place),
          ...(escalated === undefined ? {} : { with_escalated_permissions: true, ...escalated }),
        },
        "call_1",
      ),
    ),
  ),
  Script.reply(
    Script.event({
      type: "response.output_item.done",
      item: {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "done" }],
      },
    }),
  ),
]

const workspaceOf = (
  prepare: CommandReplay["prepare"],
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const directory = realpathSync(mkdtempSync(join(tmpdir(), "colloquy-replay-")))
      prepare?.(directory)
      return directory
    }),
    (directory) =>
      Effect.sync(() => rmSync(directory, { recursive: true, maxRetries: 10, force: true })),
  )

const timeless = (text: string) =>
  text.replaceAll(/"duration":\{"secs":\d+,"nanos":\d+\}/g, '"duration":"<time>"')

const isResponse = (text: string) => /^\{"jsonrpc":"2\.0","id":\d+,"result":/.test(text)

const idOfCall = (text: string): number | undefined => {
  const { id, method } = JSON.parse(text) as { readonly id?: number; readonly method?: string }
  return method === "tools/call" ? id : undefined
}

/**
 * Sends the recorded client's messages, one call after the other. It also approves questions that the original did not
 * ask.
 */
const play = Effect.fnUntraced(function* (
  server: Server.Server,
  entries: ReadonlyArray<Recording.Entry>,
  place: (text: string) => string,
) {
  const approved = new Set<unknown>()
  const finished = Effect.fnUntraced(function* (call: number) {
    for (;;) {
      const { id, method } = yield* server.until(
        (frame) =>
          (frame.method === undefined && frame.id === call) ||
          (frame.method === "elicitation/create" && !approved.has(frame.id)),
      )
      if (method === undefined) return
      approved.add(id)
      server.send({ id, result: { decision: "approved" } })
    }
  })
  let calls = 0
  for (const entry of entries) {
    if (entry.dir !== "c2s" || isResponse(entry.text)) continue
    const call = idOfCall(entry.text)
    // The recorded client waited too, so that what a turn starts at its end has happened before the next call.
    if (call !== undefined && calls++ > 0) yield* Effect.sleep("300 millis")
    server.write(`${place(entry.text)}\n`)
    if (call !== undefined) yield* finished(call)
  }
})

/** Runs a replay and returns its mismatches with the recording. */
export const mismatches = Effect.fnUntraced(function* (
  name: string,
): Effect.fn.Return<ReadonlyArray<Mismatch>, never, Scope.Scope> {
  const replay = commandReplays[name]
  if (replay === undefined) return yield* Effect.die(`no replay of ${name}`)
  const entries = Recording.load(version, name)
  const workspace = yield* workspaceOf(replay.prepare)
  let place = (text: string) => text.replaceAll("/workspace", workspace)
  const provider = yield* MockProvider.make((call) => {
    const script = scriptOf(replay, place)
    return Script.replyTo(script, { ...call, index: call.index % (replay.commands.length + 1) })
  })
  const home = realpathSync(yield* provided(provider.baseUrl, "responses"))
  const inWorkspace = place
  place = (text) => inWorkspace(text).replaceAll("/state", home)
  if (replay.config === undefined) {
    writeFileSync(join(home, "auth.json"), '{"OPENAI_API_KEY":"a-key-in-auth-json"}\n')
  } else {
    const usual = readFileSync(join(home, "config.toml"), "utf8")
    writeFileSync(join(home, "config.toml"), place(replay.config(usual)))
  }
  const env = Object.entries(replay.env ?? {}).map(([key, value]) => [key, place(value)])
  const server = yield* Server.start({ home, cwd: workspace, env: Object.fromEntries(env) })
  yield* play(server, entries, place)
  server.child.stdin.end()
  yield* server.exit
  const ours = server.frames.map((frame) =>
    timeless(JSON.stringify(frame).replaceAll(workspace, "/workspace").replaceAll(home, "/state")),
  )
  const recorded = entries.map((entry) =>
    entry.dir === "s2c" ? { ...entry, text: timeless(entry.text) } : entry,
  )
  return compared(recorded, ours)
})
