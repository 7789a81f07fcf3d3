/**
 * What one node asks of the node that owns a conversation: each operation is one definition with the schemas of its
 * request, its result and its errors, so that an error arrives with its tag and its fields.
 *
 * An operation is named after the member of `Conversation` or `ConversationManager` that it carries out.
 */
import {
  ConversationClosed,
  ConversationUnavailable,
  EventsFromFuture,
  ManagerClosed,
  NoSuchConversation,
  SubmissionRefused,
  TooManyConversations,
  TooManyListeners,
} from "@colloquy/core/ConversationErrors"
import { BadForkRule } from "@colloquy/core/ForkRule"
import { LeaseHeld, StoreError } from "@colloquy/core/StoreErrors"
import { StoredSettings } from "@colloquy/core/StoredSettings"
import { EventMsg, isTerminal } from "@colloquy/protocol/EventMsg"
import { ConversationId } from "@colloquy/protocol/Ids"
import { Op } from "@colloquy/protocol/Op"
import * as Schema from "effect/Schema"
import * as ClusterSchema from "effect/cluster/ClusterSchema"
import * as Entity from "effect/cluster/Entity"
import { RunnerAddress } from "effect/cluster/RunnerAddress"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import { SummarySchema } from "./internal/SummarySchema.ts"
import { Elsewhere } from "./NodeErrors.ts"

/** Which conversation, and on whose behalf; without `access` the calling program reaches every conversation. */
const target = {
  id: ConversationId,
  access: Schema.optionalKey(Schema.Struct({ owner: Schema.NullOr(Schema.String) })),
}

const getErrors = [NoSuchConversation, ConversationUnavailable, ManagerClosed, Elsewhere] as const
const removeErrors = [NoSuchConversation, StoreError, LeaseHeld, ManagerClosed, Elsewhere] as const

/** Finds the conversation and loads it. */
const Load = Rpc.make("Load", { payload: target, error: Schema.Union(getErrors) })

const submission = {
  ...target,
  op: Op,
  submission: Schema.optionalKey(Schema.String),
  whileRunning: Schema.optionalKey(
    Schema.Literals(["queue", "steer", "wait", "enqueue", "interrupt", "reject"]),
  ),
  because: Schema.optionalKey(Schema.Literals(["malformed", "failed"])),
}

const Receipt = Schema.Struct({
  id: Schema.String,
  disposition: Schema.Literals(["started", "joined", "waiting", "none"]),
})

const submitErrors = [ConversationClosed, SubmissionRefused, ...getErrors] as const

const receipt = { success: Receipt, error: Schema.Union(submitErrors) }

/** Submits an op to a node that responds. `submission` makes the op idempotent. */
const Submit = Rpc.make("Submit", { payload: submission, ...receipt })

/**
 * The same for an op that has not arrived, or whose receipt was lost: a message that waits in the database until a node has
 * carried it out. `key` is different for each attempt of each call, because the reply to a message is stored with it and a
 * retry needs a new one.
 */
const SubmitStored = Rpc.make("SubmitStored", {
  payload: { ...submission, key: Schema.String },
  ...receipt,
  primaryKey: ({ key }) => key,
}).annotate(ClusterSchema.Persisted, true)

/**
 * Submits an op and resolves with the end of its turn. One call, where a listener and a submission would be two and a message
 * for each event: most of what a turn costs through another node are the messages between the nodes.
 */
const RunTurn = Rpc.make("RunTurn", {
  payload: submission,
  success: Schema.Struct({
    receipt: Receipt,
    end: Schema.optionalKey(
      Schema.Struct({
        seq: Schema.Int,
        msg: EventMsg.pipe(Schema.refine(isTerminal)),
        error: Schema.optionalKey(Schema.String),
      }),
    ),
  }),
  error: Schema.Union([EventsFromFuture, TooManyListeners, ...submitErrors]),
})

/** Interrupts a submission. */
const Cancel = Rpc.make("Cancel", {
  payload: { ...target, submission: Schema.String },
  error: Schema.Union(getErrors),
})

const EventSchema = Schema.Struct({ seq: Schema.Int, id: Schema.String, msg: EventMsg })

/** A delivery of an event, and its record in a log. */
const EventDelivery = Schema.TaggedStruct("Event", { event: EventSchema, atMs: Schema.Finite })

const DeliverySchema = Schema.Union([
  EventDelivery,
  Schema.TaggedStruct("Synced", { seq: Schema.Int }),
  Schema.TaggedStruct("Lagged", { from: Schema.Int }),
  Schema.TaggedStruct("Ask", { event: EventSchema }),
])

const deliveries = Schema.Array(DeliverySchema)

/** What a stream of deliveries consists of. A stream that ends without `Ended` was cut: the caller attaches again. */
export const StreamItem = Schema.Union([
  /** The first item: the listener is attached and gets the durable events from `from` on, of which these are the first. */
  Schema.TaggedStruct("Attached", { from: Schema.Int, deliveries }),
  Schema.TaggedStruct("Deliveries", { deliveries }),
  /** The last item: the conversation has ended, or nothing of it can be recorded any more. */
  Schema.TaggedStruct("Ended", { because: Schema.optionalKey(ConversationUnavailable) }),
])
/** One item of a stream of deliveries. */
export type StreamItem = typeof StreamItem.Type

/** Attaches a listener for as long as the stream is read. */
const Attach = Rpc.make("Attach", {
  payload: {
    ...target,
    from: Schema.optionalKey(Schema.Number),
    lacksTexts: Schema.optionalKey(Schema.Boolean),
    answers: Schema.optionalKey(
      Schema.Union([
        Schema.Boolean,
        Schema.Literals(["all", "approvals", "forms", "calls", "everything"]),
      ]),
    ),
    limits: Schema.optionalKey(
      Schema.Struct({
        maxEvents: Schema.Finite,
        maxBytes: Schema.Finite,
        maxSeparate: Schema.optionalKey(Schema.Finite),
      }),
    ),
  },
  success: StreamItem,
  error: Schema.Union([EventsFromFuture, TooManyListeners, ...getErrors]),
  stream: true,
})

/** The current state. The settings are those that a log keeps; the calling node has the others in its configuration. */
const ReadState = Rpc.make("ReadState", {
  payload: target,
  success: Schema.Struct({
    settings: StoredSettings,
    /** `State` as JSON text, without its settings and without the ids of its receipts. */
    rest: Schema.String,
  }),
  error: Schema.Union(getErrors),
})

/** What is known about an ephemeral conversation. The owner does not look for any other one, which the store has. */
const Metadata = Rpc.make("Metadata", {
  payload: target,
  success: SummarySchema,
  error: Schema.Union([StoreError, ...getErrors]),
})

/**
 * The events of the log of an ephemeral conversation from this one on, also while it is archived; a log may be too long for one
 * message. The owner does not look for any other conversation.
 */
const History = Rpc.make("History", {
  payload: { ...target, from: Schema.Int },
  success: Schema.Array(EventDelivery),
  error: Schema.Union([StoreError, ...getErrors]),
  stream: true,
})

/**
 * Creates a conversation on the node of the one that it is copied from. `copy` is its id, the same in each attempt of one
 * request: a repetition finds the conversation that an earlier attempt has made. Absent in the calls of earlier versions.
 */
const Fork = Rpc.make("Fork", {
  payload: {
    ...target,
    rule: Schema.Union([
      Schema.TaggedStruct("DropLastUserMessages", { n: Schema.Number }),
      Schema.TaggedStruct("BeforeUserMessage", { nth: Schema.Number }),
      Schema.TaggedStruct("BeforeSubmission", { id: Schema.String }),
      Schema.TaggedStruct("ThroughSubmission", { id: Schema.String }),
      Schema.TaggedStruct("BeforeEvent", { seq: Schema.Number }),
    ]),
    ephemeral: Schema.optionalKey(Schema.Boolean),
    copy: Schema.optionalKey(ConversationId),
  },
  success: Schema.Struct({ id: ConversationId }),
  error: Schema.Union([BadForkRule, TooManyConversations, StoreError, ...getErrors]),
})

/**
 * The conversation with this revision. A call is refused that is carried out after something else has given it another one:
 * the caller may have turned to another node, and clients may have used the conversation since. Absent for a conversation
 * that the caller does not find in the store.
 */
const ending = { ...target, revision: Schema.optionalKey(Schema.String) }

/** The owner ends what runs of the conversation before its log is removed or moved. */
const Remove = Rpc.make("Remove", { payload: ending, error: Schema.Union(removeErrors) })
const Archive = Rpc.make("Archive", { payload: ending, error: Schema.Union(removeErrors) })
const Unarchive = Rpc.make("Unarchive", {
  payload: ending,
  error: Schema.Union([TooManyConversations, ...removeErrors]),
})

const called = [
  Load,
  Submit,
  RunTurn,
  Cancel,
  Attach,
  ReadState,
  Metadata,
  History,
  Fork,
  Remove,
  Archive,
  Unarchive,
] as const

/** The operations that a node calls at the address of another one. */
export const ConversationRpcs = RpcGroup.make(...called)

/** Says at which address the other operations are called. */
const Locate = Rpc.make("Locate", { success: RunnerAddress })

/** The entity of a conversation says where it is, and gets the messages that must not be lost. */
export const ConversationEntity = Entity.make("Conversation", [Locate, SubmitStored])

/** All operations of a conversation. */
export const operations = [...called, SubmitStored] as const
/** One of the operations. */
export type Operation = (typeof operations)[number]
