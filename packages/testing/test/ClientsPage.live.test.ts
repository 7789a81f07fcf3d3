/**
 * The page about clients names the versions that the checks drive, one setup for each client, which the checks run, and
 * checks that exist.
 */
import { assert, describe, it } from "@effect/vitest"
import { type ClientName, packagesOf } from "../../cli/compat/Pins.ts"
import * as Fs from "node:fs"
import * as PageClaims from "./support/PageClaims.ts"

const claims = PageClaims.over(Fs)
const page = claims.read("packages/docs/clients.md")

const clients: ReadonlyArray<ClientName> = [
  "@anthropic-ai/claude-code",
  "@google/gemini-cli",
  "opencode-ai",
  "@ai-sdk/mcp",
  "@langchain/mcp-adapters",
  "@mastra/mcp",
  "mcporter",
  "supergateway",
  "mcp-proxy",
  "mcp-remote",
]

/** Clients that start the server, and have a second setup for one that listens. */
const overHttp: ReadonlyArray<ClientName> = [
  "@anthropic-ai/claude-code",
  "@google/gemini-cli",
  "opencode-ai",
  "@ai-sdk/mcp",
  "@langchain/mcp-adapters",
  "@mastra/mcp",
  "mcporter",
]

const sections = PageClaims.sections(page)

const sectionOf = (client: ClientName) =>
  sections.filter(({ heading }) => heading.includes(`\`${client}\``))

const codeBlocks = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/^```\w+\n([\s\S]*?)^```$/gm), ([, block = ""]) => block)

describe("the page about clients", () => {
  it("names test files that exist", () => {
    const { count, missing } = claims.files(page)
    assert.isAbove(count, 14)
    assert.deepStrictEqual(missing, [])
  })

  it("names titles of tests that exist", () => {
    const text = page.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*"[^`\n]*`/g, "")
    const { count, missing } = claims.wholeTitles(text, /"([^"]{12,})"/g)
    assert.isAbove(count, 25)
    assert.deepStrictEqual(missing, [])
  })

  it.each(clients)("has one section for %s, with the version that the checks drive", (client) => {
    const found = sectionOf(client)
    assert.lengthOf(found, 1)
    const { heading, text } = found[0] ?? assert.fail("it has no section")
    const packages = Object.entries(packagesOf(client))
    assert.match(heading, /\(`[^`]+` \d[\w.-]*\)$/)
    assert.isTrue(heading.endsWith(`\`${client}\` ${packagesOf(client)[client]})`), heading)
    const [install = ""] = codeBlocks(text)
    assert.deepStrictEqual(
      install
        .replace(/^npm install (?:--global )?/, "")
        .trim()
        .split(" "),
      packages.map(([name, version]) => `${name}@${version}`),
    )
  })

  it.each(clients)("the one setup for %s is the one that its checks run", (client) => {
    const { text } = sectionOf(client)[0] ?? assert.fail("it has no section")
    // One block installs the client.
    assert.lengthOf(codeBlocks(text), 2)
    const path = /^Checks: `([^`]+)`/m.exec(text)?.[1] ?? assert.fail("it names no checks")
    assert.include(claims.read(path), `"${client}"`)
    assert.match(claims.read(path), /\b(?:setup|overStdio|loadSetup|gatewayChecks)\(/)
  })

  it.each(overHttp)("the setup over HTTP for %s is the one that its checks run", (client) => {
    const { text } = sectionOf(client)[0] ?? assert.fail("it has no section")
    const [, rest = assert.fail("it has no setup over HTTP")] = page.split(text)
    const [next] = PageClaims.sections(rest)
    const { heading, text: own } = next ?? assert.fail("it has no setup over HTTP")
    assert.strictEqual(heading, "Over HTTP")
    assert.lengthOf(codeBlocks(own), 1)
    // Those of both setups, unless the one over HTTP has its own.
    const checks = /\bChecks: `([^`]+)`/
    const path = (checks.exec(own) ?? checks.exec(text))?.[1] ?? assert.fail("it names no checks")
    assert.match(claims.read(path), /\boverHttp\(client, "/)
  })

  it("has no other setups over HTTP", () => {
    const found = sections.filter(({ heading }) => heading === "Over HTTP")
    assert.lengthOf(found, overHttp.length)
  })

  it.each(clients)("the table has one row for %s", (client) => {
    const rows = page.split("\n").filter((line) => line.startsWith(`| \`${client}\` |`))
    assert.lengthOf(rows, 1)
  })

  it("is linked from the README, which has the same setups for Claude Code", () => {
    const readme = claims.read("README.md")
    assert.include(readme, "(packages/docs/clients.md)")
    const { text } = sectionOf("@anthropic-ai/claude-code")[0] ?? assert.fail("it has no section")
    const [, setup = assert.fail("it has no setup")] = codeBlocks(text)
    assert.include(readme, `\`\`\`sh\n${setup}\`\`\``)
    const [http] = sections.filter((section) => section.heading === "Over HTTP")
    const [line = assert.fail("it has no setup over HTTP")] = codeBlocks(http?.text ?? "")
    assert.include(readme, `\`\`\`sh\n${line}\`\`\``)
  })
})
