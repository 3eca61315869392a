/** One piece of a scripted stream that is not a plain event. Made by {@link frame}. */
export type Frame =
  | { readonly frame: "raw"; readonly content: string | Uint8Array }
  | { readonly frame: "error"; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly frame: "delay"; readonly delayMs: number };

/**
 * One piece of a scripted stream: a frame, or any object, which is sent as one event in the binding's envelope
 * whether or not the spec knows such an event.
 */
export type StreamItem = Frame | object;

/** Makers of what a stream can hold beside well-formed events. */
export const frame = Object.freeze({
  /** These bytes, exactly as they are: `frame.raw("data: {bad\n\n")`. A text is sent as UTF-8. */
  raw: (content: string | Uint8Array): Frame => ({ frame: "raw", content }),
  /** A whole SSE event with a name of its own: `frame.event("ping", "ping")`. */
  event: (name: string, data: string): Frame => ({
    frame: "raw",
    content: `event: ${name}\n${data.replace(/^/gm, "data: ")}\n\n`,
  }),
  /** An SSE comment, as servers send to keep a connection alive. */
  comment: (text = ""): Frame => ({ frame: "raw", content: `:${text}\n\n` }),
  /** A failure in the middle of the stream, in the binding's envelope. */
  error: (code: number, message: string, data?: unknown): Frame => ({ frame: "error", code, message, data }),
  /** Waits on the agent's clock before the next piece. */
  delay: (delayMs: number): Frame => ({ frame: "delay", delayMs }),
});

/** Whether a piece of a stream is a frame. */
export function isFrame(item: StreamItem): item is Frame {
  return "frame" in item && typeof item.frame === "string";
}
