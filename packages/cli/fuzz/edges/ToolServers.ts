/** Data from tool servers and files: lists of tools with their schemas, results of calls, images, names of variables. */
import { parseJson } from "@colloquy/protocol/Json"
import { encode } from "@colloquy/simulation/fuzz/Bytes"
import { type Edge, Violation } from "@colloquy/simulation/fuzz/Edge"
import { expect, mutateJoined, pure, textOf } from "@colloquy/simulation/fuzz/edges/Pure"
import { environmentOf } from "@colloquy/tools/environment/EnvironmentPolicy"
import * as ImageFile from "@colloquy/tools/image/ImageFile"
import { readTools } from "@colloquy/tools/mcp/ServerTools"
import { sanitize } from "@colloquy/tools/mcp/SchemaSanitizer"
import { outcome, parseArguments } from "@colloquy/tools/mcp/ToolOutput"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const listing = [
  {
    name: "search",
    title: "Search",
    description: "Finds things",
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: "object",
      required: ["query"],
      properties: {
        query: { type: ["string", "null"], description: "words" },
        limit: { type: "integer", minimum: 1 },
        where: { $ref: "#/$defs/place" },
        tags: { type: "array", items: { enum: ["a", "b"] } },
        any: {
          anyOf: [{ type: "string" }, { type: "object", additionalProperties: { type: "number" } }],
        },
      },
      $defs: { place: { type: "object", properties: { inner: { $ref: "#/$defs/place" } } } },
    },
  },
]

const results = [
  {
    content: [
      { type: "text", text: "found" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///a", text: "b" } },
    ],
    structuredContent: { n: 1 },
    isError: false,
  },
]

/** A list of tools, a result and arguments, one per line. */
const served = [
  encode(
    [listing, results[0], { query: "x", limit: 2 }].map((one) => JSON.stringify(one)).join("\n"),
  ),
]

/** Bound of one schema: all schemas together are sent with every request. */
const maxSchemaChars = 128 * 1024

/** Lists of tools, results and arguments. */
export const toolServers: Edge = {
  name: "tool-server",
  summary: "Lists of tools, their schemas, results and arguments of calls (tools/mcp).",
  corpus: served,
  mutate: mutateJoined("\n", served),
  open: pure((input) => {
    const lines = textOf(input).split("\n")
    const [list, result] = lines.map((line) => Result.getOrUndefined(parseJson(line)))
    const tools = readTools(list)
    expect(tools.length <= 512, "lists more than 512 tools")
    for (const { inputSchema } of [...tools, { inputSchema: sanitize(list) }]) {
      const text = JSON.stringify(inputSchema)
      expect(text.length <= maxSchemaChars, "gives a schema of more than 128 Ki characters")
      expect(inputSchema["type"] === "object", "gives a schema that is not of an object")
    }
    if (isRecord(result)) {
      const output = outcome(result, 1000)
      const text = output._tag === "Result" ? output.output : output.message
      expect(encode(text).length <= 1100, "gives the model more than the limit")
      expect(
        output._tag === "Failure" || JSON.stringify(output.result).length <= 8000,
        "keeps more than the limit",
      )
    }
    const args = parseArguments(lines[2] ?? "")
    if (args._tag === "Bad") {
      expect(args.message.length < 400, "describes a fault of arguments in 400 characters or more")
    }
    return tools.length > 0 ? "accepted" : "rejected"
  }),
}

const variables = { PATH: "/bin", HOME: "/h", AWS_KEY: "k", API_TOKEN: "t", Äß: "u" }

const patterns = ["*KEY*\nAWS_*\n*_?", "**a*b*\n?\n\n[a-z]*", `${"*a".repeat(50)}b`].map(encode)

/** Patterns of environment variables. */
export const environmentPatterns: Edge = {
  name: "environment-pattern",
  summary: "Patterns of names of variables (tools/environment/EnvironmentPolicy).",
  corpus: patterns,
  mutate: mutateJoined("\n", patterns),
  open: pure((input) => {
    const exclude = textOf(input).split("\n")
    const policy = {
      inherit: "all",
      ignoreDefaultExcludes: true,
      includeOnly: [],
      set: {},
    } as const
    const long = { ["A".repeat(2000)]: "x" }
    const left = environmentOf(
      { ...variables, ...long },
      { ...policy, exclude },
      {
        networkDisabled: false,
        providerKeyNames: [],
      },
    )
    expect(Object.keys(left).length <= 6, "adds a variable")
    return Object.keys(left).length < 6 ? "accepted" : "rejected"
  }),
}

const hex = (...parts: ReadonlyArray<string>): Uint8Array =>
  Uint8Array.from(Buffer.from(parts.join(""), "hex"))

const png = hex("89504e470d0a1a0a", "0000000d49484452", "00000001000000010806000000")
const gif = hex("474946383961", "01000100000000")
const webp = hex("52494646", "1a000000", "574542505650384c", "0d0000002f00000010")
const jpeg = hex(
  "ffd8ffe000104a46494600010100000100010000",
  "ffc0001108000100010301220002110103110",
  "1ffd9",
)

const isDataUrl = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/

const runImage = (input: Uint8Array) =>
  Effect.gen(function* () {
    const { read } = yield* ImageFile.make([])
    const image = yield* read("/w", "image")
    if ("problem" in image) return "rejected"
    return isDataUrl.test(image.url)
      ? "accepted"
      : yield* new Violation({
          law: "L13",
          message: "returns a text that is not the data URL of an image",
        })
  }).pipe(
    Effect.provide([
      Path.layer,
      FileSystem.layerNoop({
        realPath: (path) => Effect.succeed(path),
        stat: () =>
          Effect.succeed({ size: input.length, type: "File" } as unknown as FileSystem.File.Info),
        stream: () => Stream.succeed(input),
      }),
    ]),
  )

/** Image files. */
export const images: Edge = {
  name: "image",
  summary: "Image files that the model or a person names (tools/image).",
  corpus: [png, gif, webp, jpeg],
  open: Effect.succeed({ run: runImage }),
}
