/** Valid inputs of the frame edges: sampled from the definitions of the protocol, and recorded of the original. */
import type { Contract } from "@colloquy/protocol/emit/Contract"
import { encode, oneOf } from "@colloquy/simulation/fuzz/Bytes"
import { Samples } from "@colloquy/simulation/fuzz/Samples"
import { SeededRandom } from "@colloquy/simulation/SeededRandom"
import { readdirSync, readFileSync } from "node:fs"
import { asking, Ids } from "./Services.ts"

/** What names something that a fuzzed server has, by the names of the members that hold it. */
const known = (() => {
  const conversations = [Ids.nth(1), Ids.nth(2)]
  const prompts = ["hello", asking]
  return {
    ...Object.fromEntries(
      ["conversationId", "conversation_id", "threadId", "sessionId"].map((name) => [
        name,
        conversations,
      ]),
    ),
    prompt: prompts,
    text: prompts,
    protocolVersion: ["2025-06-18"],
    taskId: ["AQAAAAAAAAAAAAAAAAAAAA"],
    path: ["/work/file.txt", "/state/sessions/rollout.jsonl"],
    cwd: ["/work", "/work/inner", "relative"],
    uri: ["colloquy://conversations", `colloquy://conversations/${Ids.nth(1)}`],
    profile: ["other", "none"],
  }
})()

export const samplesOf = ({ definitions }: Contract): Samples => new Samples({ definitions, known })

const definitionName = (tool: string) =>
  `${tool.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Arguments`

/** Arguments of a tool that fit its definition. */
export const argumentsOf = (contract: Contract, tool: string, draws: SeededRandom): unknown =>
  samplesOf(contract).sample({ $ref: `#/$defs/${definitionName(tool)}` }, draws)

interface Sampled {
  readonly method: string
  readonly params: unknown
  readonly isRequest: boolean
}

/** Calls of every method that a client may call, so many of each. */
export const callsOf = (
  contract: Contract,
  draws: SeededRandom,
  each: number,
): ReadonlyArray<Sampled> => {
  const samples = samplesOf(contract)
  return contract.methods
    .filter(({ sender }) => sender === "client")
    .flatMap(({ info, name, params }) =>
      Array.from({ length: params === undefined ? 1 : each }, () => ({
        method: name,
        params: params === undefined ? undefined : samples.sample(params, draws),
        isRequest: info.kind === "request",
      })),
    )
}

/** Results of the requests of a server, as a client could give them: to the first ids that a server uses. */
export const answersOf = (contract: Contract, draws: SeededRandom): ReadonlyArray<string> => {
  const samples = samplesOf(contract)
  const results = contract.methods
    .filter(({ info, sender }) => sender === "server" && info.kind === "request")
    .map(({ result }) => (result === undefined ? {} : samples.sample(result, draws)))
  const given = [
    ...results,
    { decision: "approved" },
    { decision: "denied" },
    { action: "accept", content: { decision: "approved", name: "x" } },
    { action: "decline" },
    { action: "cancel" },
  ]
  return given.map((result, at) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1 + (at % 3), result: result ?? {} }),
  )
}

/** Responses to nothing that was asked, good and bad. */
export const unsolicited: ReadonlyArray<string> = [
  '{"jsonrpc":"2.0","id":99,"result":{}}',
  '{"jsonrpc":"2.0","id":99,"error":{"code":-32000,"message":"no"}}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":{"a":1}}}',
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
  '{"jsonrpc":"2.0","error":{"code":0}}',
]

export const lineOf = (id: unknown, { isRequest, method, params }: Sampled): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    ...(isRequest ? { id } : {}),
    method,
    ...(params === undefined ? {} : { params }),
  })

/** Groups of one to four calls behind a beginning. */
export const grouped = (
  first: ReadonlyArray<string>,
  calls: ReadonlyArray<Sampled>,
  draws: SeededRandom,
  count: number,
): ReadonlyArray<Uint8Array> =>
  Array.from({ length: count }, () => {
    const lines = Array.from({ length: 1 + draws.below(4) }, (_, at) =>
      lineOf(draws.chance(0.8) ? at + 2 : `id ${at}`, oneOf(draws, calls)),
    )
    return encode([...first, ...lines, ""].join("\n"))
  })

const fixtures = new URL("../../../server/test/fixtures/", import.meta.url)

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g

interface Recorded {
  readonly dir: string
  readonly msg: unknown
  readonly raw?: string
}

/** A session as its client wrote it, with the ids of conversations that a fuzzed server has. */
const sessionOf = (file: URL): string => {
  const ids = new Map<string, string>()
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Recorded)
    .filter(({ dir }) => dir === "c2s")
    .map(({ msg, raw }) => raw ?? JSON.stringify(msg))
    .join("\n")
    .replaceAll(uuid, (found) => {
      const id = ids.get(found) ?? Ids.nth(ids.size + 1)
      ids.set(found, id)
      return id
    })
}

/** What clients wrote in the recorded sessions of these versions of the original. */
export const recorded = (...versions: ReadonlyArray<string>): ReadonlyArray<Uint8Array> =>
  versions.flatMap((version) =>
    readdirSync(new URL(`${version}/`, fixtures))
      .filter((name) => name.endsWith(".jsonl"))
      .toSorted()
      .map((name) => encode(`${sessionOf(new URL(`${version}/${name}`, fixtures))}\n`)),
  )

/** Responses make up a third: few of the lines of a client are any, and all of them reach the same decoder. */
export const donorsOf = (
  inputs: ReadonlyArray<Uint8Array>,
  responses: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const lines = linesIn(inputs)
  const times = Math.ceil(lines.length / 2 / responses.length)
  return [...lines, ...Array.from({ length: times }, () => responses).flat()]
}

/** The lines of inputs, each once. */
export const linesIn = (inputs: ReadonlyArray<Uint8Array>): ReadonlyArray<string> => {
  const utf8 = new TextDecoder()
  return [...new Set(inputs.flatMap((input) => utf8.decode(input).split("\n")))].filter(
    (line) => line !== "",
  )
}
