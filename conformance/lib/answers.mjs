// The form in which answers stand in the data, and how two answers compare.

import { isDeepStrictEqual } from "node:util";

/**
 * Shortens what the driver saw to the form of the data: long texts by their names in `texts`, and of an error what is ordinary
 * (an instance of Error, made by the class of its name, without own keys) is left out.
 */
export function shorten(value, texts) {
  if (typeof value === "string") return shortenText(value, texts);
  if (Array.isArray(value)) return value.map((item) => shorten(item, texts));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([key]) => !(isOrdinaryError(value) && ORDINARY.includes(key)));
  return Object.fromEntries(entries.map(([key, item]) => [key, shorten(item, texts)]));
}

const ORDINARY = ["ctor", "isError", "ownKeys"];

function isOrdinaryError(value) {
  return value.isError === true && value.ctor === value.name && value.ownKeys?.length === 0;
}

function shortenText(text, texts) {
  return Object.entries(texts).reduce((rest, [name, long]) => rest.replaceAll(long, name), text);
}

const values = (result) => (result.deterministic ? [result.observed] : result.observed.map((one) => one.result));

/** `same`: every run answered as recorded. `sometimes`: some runs did. `differs`: none did. */
export function verdict(recorded, now) {
  const known = values(recorded);
  const matching = values(now).filter((value) => known.some((one) => isDeepStrictEqual(one, value))).length;
  if (matching === 0) return "differs";
  return matching === values(now).length ? "same" : "sometimes";
}

/** Where the answers of now are not those recorded, as lines to read. */
export function differences(recorded, now) {
  const known = values(recorded);
  const other = values(now).filter((value) => !known.some((one) => isDeepStrictEqual(one, value)));
  return other.flatMap((value) => walk(known[0], value, ""));
}

function walk(recorded, now, path) {
  if (isDeepStrictEqual(recorded, now)) return [];
  const both = [recorded, now];
  if (
    both.every((side) => side !== null && typeof side === "object") &&
    Array.isArray(recorded) === Array.isArray(now)
  ) {
    const keys = [...new Set(both.flatMap(Object.keys))];
    return keys.flatMap((key) => walk(recorded[key], now[key], `${path}/${key}`));
  }
  return [`${path || "/"}: recorded ${JSON.stringify(recorded)}, now ${JSON.stringify(now)}`];
}
