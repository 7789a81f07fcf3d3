/**
 * Where the turns of one conversation run: their fibers, and the desk where their questions wait; and what runs beside
 * turns. What a turn says and asks goes into the conversation's inbox. Decides nothing. Closing it leaves no fiber behind (L8).
 */
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { ApprovalWaiters } from "./ApprovalWaiters.ts"
import { answerOf } from "../approvals/Elicitation.ts"
import { formFault } from "../question/FormLimits.ts"
import { grantFor } from "../approvals/SessionGrants.ts"
import { CallIds } from "../turn/CallIds.ts"
import type { Inbox } from "./Inbox.ts"
import type { Journal } from "./Journal.ts"
import type { ModelClient } from "../ModelClient.ts"
import type { OpenCall } from "../log/OpenCalls.ts"
import { ToolRuntime } from "../ToolRuntime.ts"
import type { TurnPort } from "../turn/TurnPort.ts"
import { quoted } from "../question/VisibleText.ts"
import { TurnRunner } from "./TurnRunner.ts"

export type Services = Context.Context<ModelClient | ToolRuntime>

export class TurnSupervisor {
  readonly desk: ApprovalWaiters
  readonly runner: TurnRunner
  private readonly scope = Scope.makeUnsafe()
  /** Made for the first call. */
  private callIds: CallIds | undefined
  private readonly inbox: Inbox
  private readonly journal: Journal
  private readonly services: Services

  constructor(inbox: Inbox, journal: Journal, services: Services) {
    this.inbox = inbox
    this.journal = journal
    this.services = services
    this.desk = new ApprovalWaiters(this.scope, (input) => inbox.send({ input }))
    this.runner = new TurnRunner(services, this.scope, (turnId, exit) =>
      inbox.send({ input: { _tag: "Ended", turnId, exit } }),
    )
  }

  /** Starts a turn with the settings of now; `calls`: after a restart, with these first. */
  start(
    conversationId: ConversationId,
    turnId: SubmissionId,
    calls?: ReadonlyArray<OpenCall>,
  ): Effect.Effect<void> {
    const { settings, turn: running } = this.journal.now
    const turn = {
      id: turnId,
      conversationId,
      settings,
      compacts: running?.compacts === true,
      ...(calls === undefined ? {} : { calls }),
    }
    return this.runner.start(turn, this.port(turnId))
  }

  /** Has the tools of the tool servers listed, with the settings of now; returns at once, `Listed` follows. */
  list(id: SubmissionId): Effect.Effect<void> {
    const { listMcpTools } = Context.get(this.services, ToolRuntime)
    return Effect.suspend(() => listMcpTools(this.journal.now.settings)).pipe(
      Effect.interruptible,
      // Whoever asked is answered, also when the tools die: with none.
      Effect.catchCause((cause) =>
        Effect.as(
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.logError("listing the tools died", cause),
          {},
        ),
      ),
      Effect.flatMap((tools) => this.inbox.send({ input: { _tag: "Listed", id, tools } })),
      Effect.forkIn(this.scope, { startImmediately: true, uninterruptible: true }),
      Effect.asVoid,
    )
  }

  private port(turnId: SubmissionId): TurnPort {
    const { desk, inbox, journal } = this
    return {
      eventCallId: (callId) => (this.callIds ??= new CallIds(journal.log.all())).take(callId),
      ask: (request) => desk.ask(turnId, request),
      elicit: (form) =>
        Effect.suspend(() => {
          const { message, requestedSchema, server } = form
          const fault = formFault(form)
          const asked = desk.ask(turnId, { _tag: "Elicitation", server, message, requestedSchema })
          const logged =
            fault === undefined
              ? Effect.void
              : Effect.logWarning(`declined a form of tool server ${quoted(server)}: ${fault}`)
          return Effect.andThen(logged, Effect.map(asked, answerOf))
        }),
      granted: (request) =>
        Effect.sync(() => grantFor(journal.now.approvals.grants, request) !== undefined),
      emit: (messages) => Effect.asVoid(inbox.send({ input: { _tag: "Emit", turnId, messages } })),
      recordCall: (call) =>
        Effect.map(
          inbox.ask({ _tag: "StartCall", turnId, ...call }),
          (answer) => answer._tag === "Decision" && answer.decision.proceed === true,
        ),
      emitCompaction: (messages) =>
        Effect.asVoid(
          inbox.send({ input: { _tag: "Emit", turnId, messages, ofCompaction: true } }),
        ),
      advance: (progress) =>
        Effect.map(inbox.ask({ _tag: "Advance", turnId, ...progress }), (answer) =>
          answer._tag === "Decision" ? answer.step : undefined,
        ),
    }
  }

  /** Stops every fiber, waits for all of them, also those left behind. */
  close(): Effect.Effect<void> {
    return Scope.close(this.scope, Exit.void)
  }
}
