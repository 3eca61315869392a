/**
 * JSON as Python's `json.dumps` writes it with sorted names and no white space, which the Python SDK signed before it
 * turned to RFC 8785: names in order of their code points, everything but ASCII as escapes, numbers as Python floats.
 */
export function asciiJson(value: unknown): string {
  if (typeof value === "string") return asciiText(value);
  if (typeof value === "number") return pythonFloat(value);
  if (Array.isArray(value)) return `[${value.map(asciiJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const members = Object.entries(value).sort(([a], [b]) => compareCodePoints(a, b));
  return `{${members.map(([name, member]) => `${asciiText(name)}:${asciiJson(member)}`).join(",")}}`;
}

function asciiText(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function compareCodePoints(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** The shortest digits, as ECMAScript has them too, with a point always and an exponent from 16 digits on. */
function pythonFloat(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const written = String(value);
  return written.includes(".") ? written : `${written}.0`;
}
