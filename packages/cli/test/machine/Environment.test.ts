import { assert, describe, it } from "@effect/vitest"
import * as Environment from "../../src/machine/Environment.ts"

const place = { cwd: "/work", home: "/home/me" }

describe("Environment", () => {
  it("an empty environment has a state directory at home and no OpenAI", () => {
    assert.deepStrictEqual(Environment.fromVariables({ OPENAI_API_KEY: " " }, place), {
      cwd: "/work",
      stateDirectory: "/home/me/.colloquy",
      hiddenDirectories: ["/home/me/.colloquy", "/home/me/.codex"],
      originalDirectory: "/home/me/.codex",
      openaiConfigured: false,
      hasOpenaiKey: false,
    })
  })

  it.each([
    ["/bin/bash", "bash"],
    ["/usr/local/bin/zsh", "zsh"],
    ["/usr/bin/fish", undefined],
    ["", undefined],
  ])("the login shell %s is described to the model as %s", (shell, told) => {
    assert.strictEqual(Environment.fromVariables({}, { ...place, shell }).shell, told)
  })

  it("every variable is read, and the key itself is not kept", () => {
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
      hiddenDirectories: ["/own", "/codex", "/home/me/.colloquy", "/home/me/.codex"],
      originalDirectory: "/codex",
      openaiConfigured: true,
      hasOpenaiKey: true,
      openaiBaseUrl: "http://here/v1",
      ossBaseUrl: "http://localhost:1/v1",
      logLevel: "info",
    })
    assert.notInclude(JSON.stringify(environment), "secret")
  })

  it("the original's directory is used where Colloquy has none, and a whole address takes precedence over a port", () => {
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
      hiddenDirectories: ["/codex", "/home/me/.colloquy", "/home/me/.codex"],
      openaiConfigured: false,
      hasOpenaiKey: false,
      ossBaseUrl: "http://x",
    })
  })

  it("L15 every directory that may hold credentials is hidden, also those that are not in use", () => {
    const hidden = (variables: Readonly<Record<string, string>>, cwd = "/work") =>
      Environment.fromVariables(variables, { ...place, cwd }).hiddenDirectories
    assert.deepStrictEqual(hidden({ CODEX_HOME: "/home/me/.codex/" }), [
      "/home/me/.codex",
      "/home/me/.colloquy",
    ])
    assert.deepStrictEqual(hidden({ COLLOQUY_HOME: "own/../state" })[0], "/work/state")
    assert.deepStrictEqual(hidden({ COLLOQUY_HOME: "state" }, "")[0], "/state")
  })
})
