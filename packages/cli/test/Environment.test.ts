import { assert, describe, it } from "@effect/vitest"
import * as Environment from "../src/Environment.ts"

const place = { cwd: "/work", home: "/home/me" }

describe("Environment", () => {
  it("an empty environment has a state directory at home and no OpenAI", () => {
    assert.deepStrictEqual(Environment.fromVariables({ OPENAI_API_KEY: " " }, place), {
      cwd: "/work",
      stateDirectory: "/home/me/.colloquy",
      openaiConfigured: false,
    })
  })

  it.each([
    ["/bin/bash", "bash"],
    ["/usr/local/bin/zsh", "zsh"],
    ["/usr/bin/fish", undefined],
    ["", undefined],
  ])("the login shell %s is told the model as %s", (shell, told) => {
    assert.strictEqual(Environment.fromVariables({}, { ...place, shell }).shell, told)
  })

  it("every variable counts, and the key itself is not kept", () => {
    const variables = {
      COLLOQUY_HOME: "/own",
      CODEX_HOME: "/codex",
      OPENAI_API_KEY: "sk-secret",
      OPENAI_BASE_URL: "http://here/v1/",
      CODEX_OSS_PORT: "1",
      COLLOQUY_LOG: "info",
    }
    const environment = Environment.fromVariables(variables, place)
    assert.deepStrictEqual(environment, {
      cwd: "/work",
      stateDirectory: "/own",
      openaiConfigured: true,
      openaiBaseUrl: "http://here/v1",
      ossBaseUrl: "http://localhost:1/v1",
      logLevel: "info",
    })
    assert.notInclude(JSON.stringify(environment), "secret")
  })

  it("the original's directory counts where there is none of our own, and a whole address over a port", () => {
    const environment = Environment.fromVariables(
      {
        COLLOQUY_HOME: "",
        CODEX_HOME: "/codex",
        CODEX_OSS_PORT: "1",
        CODEX_OSS_BASE_URL: "http://x",
      },
      place,
    )
    assert.deepStrictEqual(environment, {
      cwd: "/work",
      stateDirectory: "/codex",
      openaiConfigured: false,
      ossBaseUrl: "http://x",
    })
  })
})
