/** Faults put into the core on purpose, one at a time: the simulation has to see each as a breach of its law. */

export interface Mutation {
  readonly law: string
  /** What goes wrong. */
  readonly name: string
  /** From the root of the repository. */
  readonly file: string
  /** Stands there exactly once. */
  readonly find: string
  readonly replace: string
}

export const mutations: ReadonlyArray<Mutation> = [
  {
    law: "L1",
    name: "what comes behind the last word is answered by nobody",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "if (this.over) refuse(command, this.lost)",
    replace: "if (this.over) continue",
  },
  {
    law: "L2",
    name: "input that joins a turn is not told",
    file: "packages/core/src/decider/Decide.ts",
    find: "events: inputEvents(turnId, items),",
    replace: "events: inputEvents(turnId, items).slice(0, 0),",
  },
  {
    law: "L2",
    name: "a receipt names a turn that is not the one that starts",
    file: "packages/core/src/decider/TurnStart.ts",
    find: 'receipt: { id, disposition: "started" },',
    replace: 'receipt: { id: `${id}-`, disposition: "started" },',
  },
  {
    law: "L3",
    name: "the environment comes before session_configured",
    file: "packages/core/src/decider/InitialEvents.ts",
    find: '{ id: "", msg: sessionConfigured(id, settings) },',
    replace:
      '{ id: "", msg: { type: "background_event", message: "hello" } },\n  { id: "", msg: sessionConfigured(id, settings) },',
  },
  {
    law: "L3",
    name: "conversations that are being made do not count",
    file: "packages/core/src/manager/ConversationDirectory.ts",
    find: "entries.size + this.creating >= maxConversations",
    replace: "[...entries.values()].filter((e) => !e.isHidden).length >= maxConversations",
  },
  {
    law: "L3",
    name: "a page begins with the last of the page before",
    file: "packages/core/src/store/MemoryStore.ts",
    find: "newestFirst(query.after, meta) < 0)",
    replace: "newestFirst(query.after, meta) < (query.limit > 1 ? 1 : 0))",
  },
  {
    law: "L4",
    name: "an event has the number of the one before",
    file: "packages/core/src/decider/State.ts",
    find: "seq: isEphemeral(msg) ? next - 1 : next++,",
    replace: 'seq: isEphemeral(msg) ? next - 1 : msg.type === "raw_response_item" ? next : next++,',
  },
  {
    law: "L4",
    name: "a listener that fell behind loses the first event",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "this.lagged = true",
    replace: "this.lagged = true\n      this.next++",
  },
  {
    law: "L4",
    name: "events that a replay covered are delivered again",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "this.left = none\n      subscription.unsubscribe()",
    replace: "this.left = subscription.pollUpTo(Infinity)\n      subscription.unsubscribe()",
  },
  {
    law: "L4",
    name: "who attaches in the middle of a text gets its end alone",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "for (const event of log.inProgress())",
    replace: "for (const event of log.inProgress().slice(0, 0))",
  },
  {
    law: "L4",
    name: "a fork is cut off by one",
    file: "packages/core/src/recovery/Fork.ts",
    find: "const kept = events.slice(1, cut(events, rule))",
    replace: "const kept = events.slice(1, cut(events, rule) - 1)",
  },
  {
    law: "L5",
    name: "a turn that completed ends again when its fiber does",
    file: "packages/core/src/decider/TurnEnd.ts",
    find: "if (state.turn?.id !== turnId) return nothing(state)",
    replace: "if (state.turn === undefined && state.closing) return nothing(state)",
  },
  {
    law: "L5",
    name: "an interrupt drops what waits without a word",
    file: "packages/core/src/decider/TurnEnd.ts",
    find: "const dropped = state.waiting.map(({ id }) => aborted(id))",
    replace: "const dropped = state.waiting.slice(0, 0).map(({ id }) => aborted(id))",
  },
  {
    law: "L5",
    name: "a tool that was left behind still tells things of its turn",
    file: "packages/core/src/decider/Decide.ts",
    find: "return state.turn?.id === input.turnId",
    replace: "return !state.closing",
  },
  {
    law: "L5",
    name: "a summary takes in what is said meanwhile",
    file: "packages/core/src/decider/Decide.ts",
    find: "&& !turn.compacts",
    replace: "",
  },
  {
    law: "L5",
    name: "a summary within a turn goes by the turn's id",
    file: "packages/core/src/decider/Decide.ts",
    find: "ofCompaction === true ?",
    replace: "ofCompaction === true && turnId.length === 0 ?",
  },
  {
    law: "L6",
    name: "a listener's backlog has no bound",
    file: "packages/core/src/listeners/Backlog.ts",
    find: "held > limits.maxEvents || ",
    replace: "held < 0 || ",
  },
  {
    law: "L6",
    name: "a listener is woken late",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "resume(Effect.yieldNow)",
    replace: 'resume(Effect.sleep("10 millis"))',
  },
  {
    law: "L6",
    name: "the conversation waits until somebody has read",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "Effect.forEach(acting, (action) => this.act(action), { discard: true }),",
    replace:
      'Effect.andThen(Effect.forEach(acting, (action) => this.act(action), { discard: true }), Effect.sleep("1 millis")),',
  },
  {
    law: "L6",
    name: "a listener sleeps through what came while it lay down",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "if (this.isReady || this.publisher.end !== undefined) return resume(Effect.void)",
    replace: "if (this.publisher.end !== undefined) return resume(Effect.void)",
  },
  {
    law: "L7",
    name: "a question stays open after its answer",
    file: "packages/core/src/decider/ApprovalBook.ts",
    find: "open: book.open.filter(({ number }) => number !== question.number),",
    replace: "open: book.open,",
  },
  {
    law: "L7",
    name: "a question stays open beyond its deadline",
    file: "packages/core/src/conversation/ApprovalWaiters.ts",
    find: "duration: after,",
    replace: 'duration: "1 hour",',
  },
  {
    law: "L7",
    name: "a question is put where nobody can answer",
    file: "packages/core/src/decider/ApprovalDecisions.ts",
    find: "const parked = !Book.isAttended(approvals, request)",
    replace: "const parked = false",
  },
  {
    law: "L7",
    name: "who comes to answer is not asked what is open",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "for (const event of log.openQuestions())",
    replace: "for (const event of log.openQuestions().slice(0, 0))",
  },
  {
    law: "L8",
    name: "closing does not wait for what a turn left behind",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "yield* this.started?.close() ?? Effect.void",
    replace: "yield* Effect.void",
  },
  {
    law: "L13",
    name: "a repeated submission is taken again",
    file: "packages/core/src/decider/Decide.ts",
    find: "if (receipt !== undefined) return { ...nothing(state), receipt }",
    replace: "if (receipt?.id === undefined && receipt) return { ...nothing(state), receipt }",
  },
  {
    law: "L13",
    name: "too many items are taken",
    file: "packages/core/src/decider/Decide.ts",
    find: "if (items.length > maxItems) {",
    replace: "if (items.length > maxItems * 2) {",
  },
  {
    law: "L13",
    name: "a page of nothing is given",
    file: "packages/core/src/manager/Pages.ts",
    find: "limit < 1 || ",
    replace: "",
  },
  {
    law: "L13",
    name: "a rule that counts no number is taken",
    file: "packages/core/src/ForkRule.ts",
    find: "Number.isSafeInteger(value) && value >= 0",
    replace: "value !== Infinity",
  },
  {
    law: "L14",
    name: "an interrupt is acknowledged and nothing happens",
    file: "packages/core/src/conversation/TurnSupervisor.ts",
    find: "return this.interrupt()",
    replace: "return Effect.void",
  },
  {
    law: "L14",
    name: "a tool that does not stop holds the end of its turn",
    file: "packages/core/src/conversation/TurnSupervisor.ts",
    find: "duration: stopBound(turn.settings),",
    replace: 'duration: "1 minute",',
  },
]
