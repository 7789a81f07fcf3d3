/** Valid inputs of the frame edges: sampled from the definitions of the protocol, and recorded from the original product (packages/server/test/fixtures). */
import type { Contract } from "@colloquy/protocol/emit/Contract"
import { encode, oneOf } from "@colloquy/simulation/fuzz/Bytes"
import { Samples } from "@colloquy/simulation/fuzz/Samples"
import { SeededRandom } from "@colloquy/simulation/SeededRandom"
import { readdirSync, readFileSync } from "node:fs"
import { asking, Ids } from "./Services.ts"

/** Values that refer to something in a fuzzed server, by the names of the members that hold them. */
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

/** Draws values of the types of a contract. */
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

/** Calls of every method that a client may call, `each` calls per method. */
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

/** Responses of a client to the requests of a server, under the first ids that a server uses. */
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

/** Responses to requests that were never sent, valid and invalid. */
export const unsolicited: ReadonlyArray<string> = [
  '{"jsonrpc":"2.0","id":99,"result":{}}',
  '{"jsonrpc":"2.0","id":99,"error":{"code":-32000,"message":"no"}}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":{"a":1}}}',
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
  '{"jsonrpc":"2.0","error":{"code":0}}',
]

/** The call as one line of JSON. */
export const lineOf = (id: unknown, { isRequest, method, params }: Sampled): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    ...(isRequest ? { id } : {}),
    method,
    ...(params === undefined ? {} : { params }),
  })

/** `count` inputs, each with the `first` lines followed by one to four calls. */
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

/** The client's side of a recorded session, with its conversation ids replaced by ids that a fuzzed server has. */
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

/** The input of clients in the recorded sessions of these versions of the original product. */
export const recorded = (...versions: ReadonlyArray<string>): ReadonlyArray<Uint8Array> =>
  versions.flatMap((version) =>
    readdirSync(new URL(`${version}/`, fixtures))
      .filter((name) => name.endsWith(".jsonl"))
      .toSorted()
      .map((name) => encode(`${sessionOf(new URL(`${version}/${name}`, fixtures))}\n`)),
  )

/** Lines that mutations insert. A third are responses, because few lines of a client are responses and all lines reach the same decoder. */
export const donorsOf = (
  inputs: ReadonlyArray<Uint8Array>,
  responses: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const lines = linesIn(inputs)
  const times = Math.ceil(lines.length / 2 / responses.length)
  return [...lines, ...Array.from({ length: times }, () => responses).flat()]
}

/** The distinct lines of the inputs. */
export const linesIn = (inputs: ReadonlyArray<Uint8Array>): ReadonlyArray<string> => {
  const utf8 = new TextDecoder()
  return [...new Set(inputs.flatMap((input) => utf8.decode(input).split("\n")))].filter(
    (line) => line !== "",
  )
}
