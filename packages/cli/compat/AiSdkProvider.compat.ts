/** Checks the community's provider of the AI SDK for Codex, with this program in place of `codex`. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { directory, home } from "../test/support/Home.ts"
import { describeClient, importPackage } from "./Driver.ts"
import { executable } from "./Executable.ts"

beforeAll(buildIfMissing)

const client = "ai-sdk-provider-codex-cli"

interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
}

interface Ai {
  readonly generateText: (
    options: object,
  ) => Promise<{ readonly text: string; readonly usage: Usage }>
  readonly streamText: (options: object) => {
    readonly textStream: AsyncIterable<string>
    readonly usage: Promise<Usage>
  }
}

type Provider = ((model: string) => unknown) & { readonly close?: () => Promise<void> }

interface Providers {
  readonly createCodexExec: (options: object) => Provider
  readonly createCodexAppServer: (options: object) => Provider
}

/** Generates a text and streams another one. */
const converse = async (ai: Ai, provider: Provider) => {
  const model = provider("offline")
  const generated = await ai.generateText({ model, prompt: "say one" })
  const streaming = ai.streamText({ model, prompt: "say two three four" })
  const pieces: Array<string> = []
  for await (const piece of streaming.textStream) pieces.push(piece)
  const usage = await streaming.usage
  await provider.close?.()
  return { generated, pieces, usage }
}

const modes = [
  {
    name: "exec",
    make: ({ createCodexExec }: Providers) => createCodexExec,
    settings: { skipGitRepoCheck: true },
    // It reports whole messages only.
    minPieces: 1,
  },
  {
    name: "app-server",
    make: ({ createCodexAppServer }: Providers) => createCodexAppServer,
    settings: {},
    minPieces: 4,
  },
] as const

describeClient(client, () => {
  for (const { make, minPieces, name, settings } of modes) {
    it.live(`${name}: generates and streams a text, and reports the tokens`, () =>
      Effect.gen(function* () {
        const ai = (yield* Effect.promise(() => importPackage(client, "ai"))) as Ai
        const providers = (yield* Effect.promise(() => importPackage(client, client))) as Providers
        const codexPath = yield* executable({ COLLOQUY_HOME: yield* home() })
        const defaultSettings = { codexPath, cwd: yield* directory(), ...settings }
        const provider = make(providers)({ defaultSettings })
        const { generated, pieces, usage } = yield* Effect.promise(() => converse(ai, provider))
        // The provider writes the prompt as a transcript.
        assert.match(generated.text, /say one$/)
        assert.match(pieces.join(""), /say two three four$/)
        assert.isAtLeast(pieces.length, minPieces)
        assert.isAbove(generated.usage.inputTokens ?? 0, 0)
        assert.isAbove(usage.outputTokens ?? 0, 0)
      }),
    )
  }
})
