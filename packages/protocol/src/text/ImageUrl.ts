/** Addresses of images. A provider refuses a request with a data URL that holds no image, and each later one too. Pure. */
import * as Schema from "effect/Schema"

const imageData = /^data:image\/[a-z0-9.+-]+;base64,[a-z0-9+/]+={0,2}$/i

/** True for `data:image/TYPE;base64,DATA`, whether or not the data is an image. */
export const isImageData = (url: string): boolean => imageData.test(url)

/** A data URL of an image, or an address of another scheme. */
export const ImageUrl = Schema.String.check(
  Schema.makeFilter((url) =>
    !/^data:/i.test(url) || isImageData(url)
      ? undefined
      : "expected `data:image/TYPE;base64,DATA` with the image in base64",
  ),
)
