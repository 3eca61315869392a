/** A version 4 UUID: from the platform's secure source, or from `random` where a test owns chance. */
export function createUuid(random?: () => number): string {
  if (!random) return crypto.randomUUID();
  const hex = Array.from({ length: 32 }, (_, index) => {
    if (index === 12) return "4";
    const nibble = Math.floor(random() * 16) & 15;
    return (index === 16 ? (nibble & 3) | 8 : nibble).toString(16);
  }).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
