/** Names of images for a person: the path that the user gave, otherwise what is known of the address. Pure. */
import type { Event, EventOf } from "@colloquy/protocol/EventMsg"

/** Longest address that is printed, in UTF-16 code units. */
const maxAddress = 200

/** An address without what may be a secret in it: user, password, query and fragment. */
const printable = (url: string): string =>
  url
    .slice(0, maxAddress)
    .replace(/[?#].*$/s, "")
    .replace(/\/\/[^/]*@/, "//")

/** A data URL is named by its type and the size of its data. */
const ofAddress = (url: string): string => {
  const [header = "", type] = /^data:([\w./+-]*)[^,]*,/.exec(url.slice(0, maxAddress)) ?? []
  if (type === undefined) return printable(url)
  const padding = /=*$/.exec(url.slice(-2))?.[0].length ?? 0
  const bytes = Math.floor(((url.length - header.length) * 3) / 4) - padding
  return `${type === "" ? "image" : type}, ${bytes} bytes`
}

/** The images of a message with the paths of their files, where the user gave paths. */
const pathsOf = ({ images = [], parts = [] }: EventOf<"user_message">) => {
  const shown = parts.filter(({ type }) => type === "image" || type === "local_image")
  // A file that could not be read is shown too, but is none of the images.
  return shown.length !== images.length
    ? []
    : shown.flatMap((part, i) => {
        const url = images[i]
        return part.type === "local_image" && url !== undefined ? [[url, part.path] as const] : []
      })
}

/** The names of images with these addresses in this log. */
export const imageNames = (
  log: ReadonlyArray<Event>,
  urls: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const paths = new Map(log.flatMap(({ msg }) => (msg.type === "user_message" ? pathsOf(msg) : [])))
  return urls.map((url) => paths.get(url) ?? ofAddress(url))
}
