import * as PromiseClient from "@colloquy/client/PromiseClient"
import * as StdioCommand from "@colloquy/transport-stdio/StdioCommand"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { stateDirectory } from "./CliProcess.ts"
import { buildIfMissing, entry } from "./support/BuiltProgram.ts"
import { ask } from "./support/ClientExample.ts"
import { environment } from "./support/Server.ts"

beforeAll(buildIfMissing)

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

const connected = (options: Partial<PromiseClient.ConnectOptions> = {}, config?: string) =>
  Effect.acquireRelease(
    Effect.flatMap(stateDirectory(config), (home) =>
      Effect.promise(() =>
        PromiseClient.connect(
          StdioCommand.open({
            command: process.execPath,
            args: [entry, "app-server"],
            env: environment({ home }),
            stderr: "ignore",
          }),
          { clientInfo: { name: "live", version: "1" }, ...options },
        ),
      ),
    ),
    (client) => Effect.promise(() => client.close()),
  )

/** Runs a turn to its end. Resolves with the model's text and the numbers of the events that the client received. */
const turn = async (client: PromiseClient.PromiseClient, conversationId: string, text: string) => {
  const seqs: Array<number> = []
  await client.sendUserMessage(conversationId, text)
  for await (const { msg, seq } of client.events(conversationId, { raw: true })) {
    if (!msg.type.endsWith("_delta")) seqs.push(seq)
    if (msg.type === "task_complete") return { said: msg.last_agent_message, seqs }
  }
  throw new Error("the turn did not end")
}

describe("the client of the built app-server", () => {
  it.live("runs a conversation with promises, and answers what may run", () =>
    Effect.gen(function* () {
      const commands: Array<string> = []
      const client = yield* connected(
        {
          onApproval: (approval) => {
            if (approval._tag === "Command") commands.push(approval.command.join(" "))
            return "denied"
          },
        },
        'model_provider = "offline"\napproval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n',
      )
      assert.match(client.userAgent, /^colloquy\/.+\(live; 1\)$/)
      const said = yield* Effect.promise(async () => {
        const { conversationId } = await client.newConversation()
        return turn(client, conversationId, "run: touch made.txt")
      })
      assert.isDefined(said.said)
      assert.strictEqual(commands.length, 1)
      assert.include(commands[0], "touch made.txt")
    }),
  )

  it.live(
    "100 conversations at once over one connection: each listener gets its own events, without a gap",
    () =>
      Effect.gen(function* () {
        const client = yield* connected()
        const turns = yield* Effect.promise(() =>
          Promise.all(
            Array.from({ length: 100 }, async (_, n) => {
              const { conversationId } = await client.newConversation()
              return turn(client, conversationId, `say number ${n}`)
            }),
          ),
        )
        for (const [n, { said, seqs }] of turns.entries()) {
          assert.strictEqual(said, `number ${n}`)
          assert.deepStrictEqual(
            seqs,
            seqs.map((_, index) => index),
          )
        }
      }),
  )

  it.live(
    "the page on the app-server shows the program that runs a turn here, letter for letter",
    () =>
      Effect.gen(function* () {
        const source = read("./support/ClientExample.ts")
        assert.include(read("../../docs/app-server.md"), `\`\`\`ts\n${source}\`\`\``)
        const home = yield* stateDirectory()
        const server = { command: process.execPath, args: [entry, "app-server"] }
        const env = environment({ home })
        const answer = yield* Effect.promise(() =>
          ask({ ...server, env, stderr: "ignore" }, "say hi"),
        )
        assert.strictEqual(answer, "hi")
      }),
  )
})
