/** Faults put into what the server does for clients without a handshake (2026-07-28). */
import type { ServerMutation } from "./mutations.wire.ts"

const requestState = "mcp/revision/RequestState.ts"
const stateless = "mcp/revision/Stateless.ts"

const faults: ReadonlyArray<Omit<ServerMutation, "room">> = [
  {
    law: "L7",
    name: "a stateless call takes the state of somebody else",
    file: requestState,
    find: '"requestState",\n    principal,\n    method,',
    replace: '"requestState",\n    method,',
  },
  {
    law: "L7",
    name: "a stateless call takes the state of other arguments",
    file: requestState,
    find: "!own.has(name)",
    replace: 'name === "name"',
  },
  {
    law: "L7",
    name: "a stateless call takes a state for ever",
    file: requestState,
    find: "state.expiresAt <= (yield* Clock.currentTimeMillis)",
    replace: "state.expiresAt <= 0",
  },
  {
    law: "L7",
    name: "a stateless call ends with a state that ended another",
    file: requestState,
    find: "if (ends.has(end)) return false",
    replace: "",
  },
  {
    law: "L7",
    name: "a stateless call is refused after one that asked again",
    file: requestState,
    find: "if (!isAnswer(exit)) book.free(text)",
    replace: "",
  },
  {
    law: "L7",
    name: "a stateless call takes an answer of any shape",
    file: "mcp/revision/AnswerShapes.ts",
    find: "isMembers(answer) && fits(question, answer) ? answer : undefined",
    replace: "isMembers(answer) ? answer : undefined",
  },
  {
    law: "L7",
    name: "a stateless client without forms is asked",
    file: "mcp/OwnTools.ts",
    find: "...(takesForms(client.capabilities)",
    replace: "...(true",
  },
  {
    law: "L7",
    name: "a stateless task asks two things under one key",
    file: "tasks/Task.ts",
    find: "`${task.asked + index + 1}-${name}`",
    replace: "`${index + 1}-${name}`",
  },
  {
    law: "L13",
    name: "a stateless call does again what it has done",
    file: stateless,
    find: "round.done[key] = result",
    replace: "",
  },
  {
    law: "L13",
    name: "a stateless client sees the tasks of others",
    file: "tasks/TaskBook.ts",
    find: "const task = owners.get(principal)?.get(id)?.task\n",
    replace: "const task = [...all()].find((one) => one.task.id === id)?.task\n",
  },
  {
    law: "L13",
    name: "a stateless request needs no capabilities",
    file: "mcp/revision/RequestMeta.ts",
    find: 'if (!isMembers(capabilities)) return unusable(MetaKey.clientCapabilities, "an object")',
    replace:
      "if (!isMembers(capabilities)) return readMeta({ ...meta, [MetaKey.clientCapabilities]: {} })",
  },
  {
    law: "L14",
    name: "a stateless call that is taken back while its state is opened goes on",
    file: "mcp/revision/Router.ts",
    find: "? onRequest(id, takeBack(call))",
    replace: "? onRequest(id)",
  },
  {
    law: "L14",
    name: "a stateless call that is taken back as it asks goes on",
    file: "mcp/rounds/RoundElicitations.ts",
    find: "onCancel(requestId, conversation.cancel(turn))",
    replace: "",
  },
  {
    law: "L14",
    name: "a stateless task that is cancelled goes on",
    file: "tasks/Tasks.ts",
    find: "if (task.end !== undefined) return Effect.void\n        return Effect.map(",
    replace: "if (task.end === undefined) return Effect.void\n        return Effect.map(",
  },
  {
    law: "L1",
    name: "a stateless task is forgotten when it ends",
    file: "tasks/Task.ts",
    find: "return ttlMs === null ? undefined : task.createdAtMs + ttlMs",
    replace: "return ttlMs === null ? undefined : task.createdAtMs + 1",
  },
  {
    law: "L5",
    name: "a stateless task ends twice",
    file: "tasks/Task.ts",
    find: "if (task.end !== undefined) return task\n  const message = endMessage(end)",
    replace: "const message = endMessage(end)",
  },
  {
    law: "L2",
    name: "a stateless subscription begins without a word",
    file: "mcp/SubscriptionsListen.ts",
    find: "yield* context.notify(SubscriptionsAcknowledged, [{ notifications, _meta }])",
    replace: "",
  },
  {
    law: "L2",
    name: "a stateless subscription tells what nobody asked for",
    file: "mcp/SubscriptionsListen.ts",
    find: "filter[member] === true && declares",
    replace: "declares",
  },
  {
    law: "L2",
    name: "a stateless call is told events that it did not ask for",
    file: "mcp/VendorEvents.ts",
    find: 'return asksEvents(client.capabilities) ? session.offered : "off"',
    replace: "return session.offered",
  },
  {
    law: "L4",
    name: "a stateless subscription is told nothing",
    file: "features/Notices.ts",
    find: "waiting.filled.openUnsafe()",
    replace: "",
  },
  {
    law: "L8",
    name: "a stateless task outlives the server",
    file: "tasks/Tasks.ts",
    find: "yield* Effect.addFinalizer(() => Effect.timeoutOption(Fiber.interruptAll(running), stopBound))",
    replace: "",
  },
]

export const statelessMutations: ReadonlyArray<ServerMutation> = faults.map((fault) => ({
  ...fault,
  room: "server",
}))
