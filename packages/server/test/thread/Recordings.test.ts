/** Every message of the recordings is read by the definition of its method, as strictly as the original writes and reads it. */
import { codecOf, type Method, methodsOf } from "@colloquy/protocol/Method"
import { AppServerV2 } from "@colloquy/protocol/thread/AppServerV2"
import { experimentalUseOf } from "@colloquy/protocol/thread/Experimental"
import { unsupportedReason } from "@colloquy/protocol/thread/Unsupported"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { type ThreadEntry, threadRecordings } from "../support/ThreadRecording.ts"
import { faults, isMembers, type Members } from "../support/WireFaults.ts"
import { acceptedHere, answeredWrongly, foreign } from "./RecordedFaults.ts"

const methods = {
  c2s: methodsOf(AppServerV2.clientToServer),
  s2c: methodsOf(AppServerV2.serverToClient),
}

interface Request {
  readonly recording: string
  readonly experimental: boolean
  readonly name: string
  readonly params: unknown
}

interface Answered extends Request {
  readonly dir: "c2s" | "s2c"
  readonly method: Method | undefined
  readonly answer: Members
}

interface Sent {
  readonly dir: "c2s" | "s2c"
  readonly name: string
  readonly params: unknown
}

/** The messages of a recording: notifications, and requests with their answers by connection and id. */
const read = (recording: string, entries: ReadonlyArray<ThreadEntry>) => {
  const asked = new Map<string, Sent & { readonly experimental: boolean }>()
  const experimental = new Set<unknown>()
  const answered: Array<Answered> = []
  const notifications: Array<Sent> = []
  const requests: Array<Sent> = []
  for (const { conn, dir, msg } of entries) {
    if ((dir !== "c2s" && dir !== "s2c") || !isMembers(msg)) continue
    const { method: name, params } = msg
    const key = (of: string) => JSON.stringify([conn, of, msg["id"]])
    if (typeof name === "string") {
      const sent = { dir, name, params }
      if (!("id" in msg)) notifications.push(sent)
      else {
        requests.push(sent)
        const capabilities = isMembers(params) ? params["capabilities"] : undefined
        if (isMembers(capabilities) && capabilities["experimentalApi"] === true)
          experimental.add(conn)
        asked.set(key(dir), { ...sent, experimental: experimental.has(conn) })
      }
      continue
    }
    const other = dir === "c2s" ? "s2c" : "c2s"
    const request = asked.get(key(other))
    if (request !== undefined) {
      answered.push({
        ...request,
        recording,
        method: methods[other].get(request.name),
        answer: msg,
      })
    }
  }
  return { answered, notifications, requests }
}

const recorded = threadRecordings.map(([name, entries]) => [name, read(name, entries)] as const)

const all = recorded.flatMap(([, { answered }]) => answered)
const fromClient = all.filter(({ dir }) => dir === "c2s")

const messageOf = ({ answer }: Answered): string | undefined => {
  const { error } = answer
  return isMembers(error) && typeof error["message"] === "string" ? error["message"] : undefined
}

/** True for a request whose params the original could not read. */
const isMalformed = (one: Answered): boolean =>
  messageOf(one)?.startsWith("Invalid request: ") === true

const described = ({ name, params, recording }: Request): string =>
  `${recording}: ${name} ${JSON.stringify(params)}`

const answered = ({ answer, name, recording }: Answered): string =>
  `${recording}: ${name} answered with ${JSON.stringify(answer["result"])}`

const isListed = (request: Request): boolean => Object.hasOwn(acceptedHere, described(request))

describe("the recordings of app-server v2", () => {
  it("are 72, with the messages of both sides", () => {
    assert.strictEqual(recorded.length, 72)
    assert.isAbove(all.length, 550)
    assert.isAbove(recorded.flatMap(([, { notifications }]) => notifications).length, 1500)
  })

  it.each(recorded)("%s: every message of the server and every answer is read", (_, messages) => {
    const found: Array<string> = []
    for (const { dir, name, params } of [...messages.notifications, ...messages.requests]) {
      const method = methods[dir].get(name)
      if (method === undefined) {
        if (unsupportedReason(name) === undefined && !foreign.includes(name))
          found.push(`no ${name}`)
      } else if (dir === "s2c") {
        found.push(...faults(method.payloadSchema, params).map((fault) => `${name}: ${fault}`))
      }
    }
    for (const request of messages.answered) {
      const { answer, method, name } = request
      if (method === undefined || !("result" in answer)) continue
      const wrong = faults(method.successSchema, answer["result"])
      if (Object.hasOwn(answeredWrongly, answered(request))) assert.isNotEmpty(wrong)
      else found.push(...wrong.map((fault) => `result of ${name}: ${fault}`))
    }
    assert.deepStrictEqual(found, [])
  })

  it("params that the original can read are read, and nothing but unknown members is ignored", () => {
    const found = fromClient.flatMap((request) => {
      const { method, params } = request
      if (method === undefined || isMalformed(request)) return []
      const decoded = codecOf(method).decodeParams(params)
      if (Result.isFailure(decoded)) return [described(request)]
      return isListed(request)
        ? []
        : faults(method.payloadSchema, params ?? {}).map(
            (fault) => `${described(request)} ${fault}`,
          )
    })
    assert.deepStrictEqual(found, [])
  })

  it("params that the original cannot read are refused, or listed with the reason", () => {
    const malformed = fromClient.filter(isMalformed)
    const accepted = malformed.filter(
      ({ method, params }) =>
        method !== undefined && Result.isSuccess(codecOf(method).decodeParams(params)),
    )
    assert.isAbove(malformed.length, 20)
    assert.deepStrictEqual(
      [...new Set(accepted.map(described))].filter((one) => !Object.hasOwn(acceptedHere, one)),
      [],
    )
  })

  it("the list of exceptions has nothing that no recording shows", () => {
    const known = new Set([...all.map(described), ...all.map(answered)])
    assert.deepStrictEqual(
      Object.keys({ ...acceptedHere, ...answeredWrongly }).filter((one) => !known.has(one)),
      [],
    )
  })

  it("what is experimental is refused to a client without the capability, as by the original, and nothing else", () => {
    const refused = / requires experimentalApi capability$/
    const found = fromClient.flatMap((request) => {
      const { experimental, method, params } = request
      if (method === undefined || experimental) return []
      const message = messageOf(request)
      const use = experimentalUseOf(method)(params)
      const expected =
        message === undefined || !refused.test(message) ? undefined : message.replace(refused, "")
      return use === expected || isListed(request) ? [] : [[described(request), use, expected]]
    })
    assert.deepStrictEqual(found, [])
    assert.isAbove(fromClient.filter((one) => refused.test(messageOf(one) ?? "")).length, 12)
  })
})
