/** The features beside turns, with both generations of the official client, over any connection. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { home } from "../test/support/Home.ts"
import { type Connect, describeClient, type Serve, type Way } from "./Driver.ts"
import { asking, connected, free, textOf, threadOf, until } from "./Playing.ts"
import * as SdkV1 from "./SdkV1.ts"
import * as SdkV2 from "./SdkV2.ts"

const features = (way: Way) => {
  it.live("a conversation is a resource that is listed, read, completed and watched", () =>
    Effect.gen(function* () {
      const driver = yield* connected(way, free)
      const first = yield* Effect.promise(() => driver.call("codex", { prompt: "say one" }))
      const threadId = threadOf(first)
      const uri = `colloquy://conversations/${threadId}`
      const { resources } = yield* Effect.promise(() => driver.reader.listResources())
      assert.deepStrictEqual(
        resources.map((one) => one.uri),
        [uri],
      )
      const read = yield* Effect.promise(() => driver.reader.readResource({ uri }))
      assert.include(read.contents[0]?.text, "one")
      const { completion } = yield* Effect.promise(() =>
        driver.reader.complete({
          ref: { type: "ref/resource", uri: "colloquy://conversations/{id}" },
          argument: { name: "id", value: threadId.slice(0, 8) },
        }),
      )
      assert.deepStrictEqual(completion.values, [threadId])
      const unwatch = yield* Effect.promise(() => driver.watch(uri))
      const reply = () => driver.call("codex-reply", { threadId, prompt: "say two" })
      yield* Effect.promise(reply)
      yield* Effect.promise(() => until(() => driver.updated.includes(uri)))
      yield* Effect.promise(unwatch)
      assert.deepStrictEqual(driver.errors, [])
    }),
  )

  it.live("a prompt of the state directory is listed and filled in", () =>
    Effect.gen(function* () {
      const driver = yield* connected(way, free)
      const { prompts } = yield* Effect.promise(() => driver.reader.listPrompts())
      assert.deepStrictEqual(
        prompts.map(({ name }) => name),
        ["greet"],
      )
      const { messages } = yield* Effect.promise(() =>
        driver.reader.getPrompt({ name: "greet", arguments: { WHO: "Ada" } }),
      )
      assert.include(messages[0]?.content.text, "Hello Ada")
      assert.deepStrictEqual(driver.errors, [])
    }),
  )
}

const tasks = (way: Way) => {
  it.live("a call is a task that asks, is answered and keeps its result", () =>
    Effect.gen(function* () {
      const cwd = yield* home()
      const asked: Array<string> = []
      const driver = yield* connected(way, asking, (message) => {
        asked.push(message)
        return Promise.resolve({ action: "accept" })
      })
      // The client learns from the list which tools may run as tasks.
      yield* Effect.promise(() => driver.tools())
      const prompt = "run: touch done.txt && echo it is done"
      const task = driver.callAsTask?.("codex", { prompt, cwd })
      const { result, statuses } = yield* Effect.promise(
        () => task ?? assert.fail("the client has no tasks"),
      )
      assert.strictEqual(textOf(result), "Offline model: the tool finished and said: it is done")
      assert.lengthOf(asked, 1)
      assert.isTrue(existsSync(join(cwd, "done.txt")))
      assert.include(statuses, "input_required")
    }),
  )
}

/** All checks of both clients. */
export const featureChecks = (serve: Serve): void => {
  const by = (connect: Connect): Way => ({ connect, serve })

  describeClient("@modelcontextprotocol/sdk", () => {
    describe("resources and prompts", () => features(by(SdkV1.connect)))
    describe("tasks", () => tasks(by(SdkV1.connect)))
  })

  describeClient("@modelcontextprotocol/client", () => {
    describe("resources and prompts", () => features(by(SdkV2.connect)))
    describe("resources and prompts in the newest revision", () =>
      features(by(SdkV2.connectNewest)))
  })
}
