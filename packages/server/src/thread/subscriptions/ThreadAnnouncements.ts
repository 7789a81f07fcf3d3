/**
 * The notifications about threads that concern the connections of other processes as well, as texts from one process to
 * another. Pure.
 */
import type { Params } from "@colloquy/protocol/Method"
import {
  ThreadArchived,
  ThreadDeleted,
  ThreadNameUpdated,
  ThreadReadStateChanged,
  ThreadSettingsUpdated,
  ThreadStarted,
  ThreadStatusChanged,
  ThreadUnarchived,
} from "@colloquy/protocol/thread/Notifications"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The methods of these notifications. */
const methods = {
  [ThreadStarted._tag]: ThreadStarted,
  [ThreadStatusChanged._tag]: ThreadStatusChanged,
  [ThreadNameUpdated._tag]: ThreadNameUpdated,
  [ThreadArchived._tag]: ThreadArchived,
  [ThreadUnarchived._tag]: ThreadUnarchived,
  [ThreadDeleted._tag]: ThreadDeleted,
  [ThreadSettingsUpdated._tag]: ThreadSettingsUpdated,
  [ThreadReadStateChanged._tag]: ThreadReadStateChanged,
} as const

/** A method of these. */
export type AnnouncedMethod = (typeof methods)[keyof typeof methods]

/** A method that notifies what was recorded of a thread. */
export type RecordedMethod =
  | typeof ThreadNameUpdated
  | typeof ThreadArchived
  | typeof ThreadUnarchived
  | typeof ThreadDeleted

const Announcement = Schema.Union([
  Schema.TaggedStruct(ThreadStarted._tag, { params: ThreadStarted.payloadSchema }),
  Schema.TaggedStruct(ThreadStatusChanged._tag, {
    params: ThreadStatusChanged.payloadSchema,
    /** Number of the event that changed it. Absent where the thread was loaded or ended. */
    seq: Schema.optionalKey(Schema.Int),
  }),
  Schema.TaggedStruct(ThreadNameUpdated._tag, { params: ThreadNameUpdated.payloadSchema }),
  Schema.TaggedStruct(ThreadArchived._tag, { params: ThreadArchived.payloadSchema }),
  Schema.TaggedStruct(ThreadUnarchived._tag, { params: ThreadUnarchived.payloadSchema }),
  Schema.TaggedStruct(ThreadDeleted._tag, { params: ThreadDeleted.payloadSchema }),
  Schema.TaggedStruct(ThreadSettingsUpdated._tag, { params: ThreadSettingsUpdated.payloadSchema }),
  Schema.TaggedStruct(ThreadReadStateChanged._tag, {
    params: ThreadReadStateChanged.payloadSchema,
  }),
])
/** A notification of another process. */
export type Announcement = typeof Announcement.Type

/** A change of what a thread waits for. */
export type AnnouncedStatus = Extract<
  Announcement,
  { readonly _tag: typeof ThreadStatusChanged._tag }
>

const Text = Schema.fromJsonString(Schema.toCodecJson(Announcement))
const encode = Schema.encodeUnknownSync(Text)
const decode = Schema.decodeOption(Text)

/** The text of a notification. */
export const announcementText = <M extends AnnouncedMethod>(
  { _tag }: M,
  params: Params<M>,
  seq?: number,
): string => encode({ _tag, params, ...(seq === undefined ? {} : { seq }) })

/** The notification of a text; undefined for one of a process that has others. */
export const announcementOf = (text: string): Announcement | undefined =>
  Option.getOrUndefined(decode(text))

/** The method of a notification. */
export const methodOf = ({ _tag }: Announcement): AnnouncedMethod => methods[_tag]
