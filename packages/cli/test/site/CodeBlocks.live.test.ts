/**
 * Every code block of the README and the pages is checked, by its language:
 *
 * | language | what is checked | where |
 * | --- | --- | --- |
 * | `ts` | it is a file, which is compiled and run | packages/testing/test/Readme.live.test.ts |
 * | `js` | it parses; its client runs it | here; packages/cli/compat |
 * | `json` | it parses; a line with a method is a message of the app-server | here |
 * | `toml` | it is a valid `config.toml`, with the keys that are commented out | here |
 * | `yaml` | it parses | here; its metrics in packages/core/test/telemetry/ObservabilityPage.live.test.ts |
 * | `sh`, `console` | its commands, options and scripts exist | here; packages/cli/test/HttpPage.live.test.ts and packages/cli/compat/Packages.compat.ts run those of http.md and get-started.md |
 * | `text` | nothing: grammars, output and tables | – |
 */
import { assert, describe, it } from "@effect/vitest"
import { parse as parseYaml } from "effect/encoding/Yaml"
import { existsSync, readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { relative } from "node:path"
import * as CodeBlocks from "../support/CodeBlocks.ts"
import { pages } from "../support/ShownPrograms.ts"

const root = new URL("../../../../", import.meta.url)
const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"))
const clientChecks = "packages/testing/test/ClientsPage.live.test.ts"

const known: CodeBlocks.Known = {
  scripts: new Set(Object.keys(scripts)),
  others: new Map([
    ...["claude", "gemini", "supergateway", "mcp-proxy", "mcp-inspector"].map(
      (client) => [client, clientChecks] as const,
    ),
    ["docker", "packages/cli/compat/Image.compat.ts"],
    ["node", "packages/cli/compat/Packages.compat.ts"],
  ]),
}

/** Pages whose commands are run as a whole. */
const run = new Map([
  ["packages/docs/http.md", "packages/cli/test/HttpPage.live.test.ts"],
  ["packages/docs/exec.md", "packages/cli/test/exec/ExecPage.live.test.ts"],
  ["packages/docs/terminal.md", "packages/cli/test/terminal/TerminalPage.live.test.ts"],
])

const commandFaults = (page: string, block: CodeBlocks.CodeBlock): string | undefined =>
  block.language === "sh" && run.has(page)
    ? undefined
    : CodeBlocks.commandsOf(block)
        .map((command) => CodeBlocks.commandFault(command, known))
        .find((fault) => fault !== undefined)

const thrownBy = (parse: () => unknown): string | undefined => {
  try {
    parse()
    return undefined
  } catch (error) {
    return String(error)
  }
}

const faultOf = (page: string, block: CodeBlocks.CodeBlock): string | undefined => {
  switch (block.language) {
    case "ts":
    case "text":
      return undefined
    case "js":
      return thrownBy(() => stripTypeScriptTypes(block.text))
    case "json":
      return CodeBlocks.jsonFault(block.text)
    case "toml":
      return CodeBlocks.tomlFault(block.text)
    case "yaml":
      return thrownBy(() => parseYaml(block.text))
    case "sh":
    case "console":
      return commandFaults(page, block)
    default:
      return `language \`${block.language}\`: expected one that is checked`
  }
}

describe("code blocks", () => {
  for (const path of pages()) {
    const page = relative(root.pathname, path)
    const text = readFileSync(path, "utf8")
    const blocks = CodeBlocks.blocksOf(text)
    const commands = CodeBlocks.quotedCommands(text)
    if (blocks.length + commands.length === 0) continue
    it(`of ${page} have a language and are valid`, () => {
      assert.deepStrictEqual(
        blocks.flatMap((block) => faultOf(page, block) ?? []),
        [],
      )
    })

    it(`${page} quotes commands, options and scripts that exist`, () => {
      assert.deepStrictEqual(
        commands.flatMap((command) => CodeBlocks.commandFault(command, known) ?? []),
        [],
      )
    })
  }

  it("the checks that run what cannot be run here exist", () => {
    for (const path of [...known.others.values(), ...run.values()]) {
      assert.isTrue(existsSync(new URL(path, root)), path)
    }
  })
})

describe("a fault of a code block", () => {
  const blockOf = (language: string, text: string) => ({ language, text: `${text}\n` })

  it.each([
    ["sh", "npx colloquy serv"],
    ["sh", "npm ci && npm run dmeo"],
    ["sh", "colloquy mcp --no-evnts"],
    ["sh", "claude mcp add x -- DIR/node_modules/.bin/node DIR/packages/cli/bin/colloquy.mjs mpc"],
    ["console", "$ rm -rf state\nprinted"],
    ["js", "export const = 1"],
    ["json", '{ "a": 1, }'],
    ["json", '{"id":1,"method":"newConversatoin"}'],
    ["json", '{"id":1,"method":"sendUserMessage","params":{"items":[]}}'],
    ["toml", 'sandbox_mode = "none"'],
    ["toml", '# sandbox_mode = "none"'],
    ["yaml", "a: [1"],
    ["", "what is it?"],
  ])("%s: %s", (language, text) => {
    assert.isDefined(faultOf("README.md", blockOf(language, text)))
  })

  it("blocks, commands and quotations are told apart", () => {
    const page = "a `colloquy mcp`\n\n```sh\nnpm ci && npm test # `x`\n```\n\n```\nb\n```\n"
    assert.deepStrictEqual(CodeBlocks.blocksOf(page), [
      { language: "sh", text: "npm ci && npm test # `x`\n" },
      { language: "", text: "b\n" },
    ])
    assert.deepStrictEqual(CodeBlocks.commandsOf(blockOf("sh", "npm ci && npm test # x")), [
      "npm ci",
      "npm test",
    ])
    assert.deepStrictEqual(CodeBlocks.quotedCommands(page), ["colloquy mcp"])
  })
})
