"""``Position``: turns, history, counters and the end of the game."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.errors import IllegalMoveError, PositionError, SolverError
from solver.game.boards import BOARD_24, Board
from solver.game.position import Move, Outcome, Position
from solver.game.rules import PRESETS, Rules, get_rules
from tests.support.small_boards import NINE_POINTS_DIAGONALS

QUIET = "W..W.B../B...B.../..B..WW. w 0,0 0"  # four stones a side that can shuffle to and fro
SHUFFLE = ["a7-d7", "b6-d6", "d7-a7", "d6-b6"]

RULE_SETS = [*PRESETS.values(), Rules("three", NINE_POINTS_DIAGONALS, 4, True, 2, 12)]
choices = st.lists(st.integers(0, 10**6), max_size=90)


def play(pos: Position, picks: list[int]) -> list[Position]:
    """Play a game in which each pick chooses among the legal moves; the positions on the way, as copies."""
    seen = [pos.copy()]
    for pick in picks:
        legal = pos.legal_moves
        if not legal:
            break
        pos.push(legal[pick % len(legal)])
        seen.append(pos.copy())
    return seen


def test_start() -> None:
    pos = Position(get_rules("nine"))
    assert (pos.white, pos.black, pos.turn, pos.hands, pos.quiet_turns) == (0, 0, "white", (9, 9), 0)
    assert (pos.phase, pos.placements, pos.repetitions, pos.move_stack) == ("placing", 0, 0, ())
    assert pos.outcome() is None
    assert not pos.is_over()
    assert pos == Position.from_fen(pos.rules, "start")


def test_sides_seen_by_the_player_to_move() -> None:
    pos = Position.from_fen(get_rules("nine"), "WW....../.B....../........ b 6,7 0")
    assert (pos.own, pos.opponent) == (1 << 9, 0b11)
    assert (pos.own_hand, pos.opponent_hand) == (7, 6)
    assert pos.placements == 5


@pytest.mark.parametrize("rules", RULE_SETS, ids=lambda rules: rules.name)
@given(picks=choices)
def test_a_random_game(rules: Rules, picks: list[int]) -> None:
    """Text round trips, counters, and what pop restores."""
    pos = Position(rules)
    seen = play(pos, picks)
    for before, after in pairwise(seen):
        move = after.move_stack[-1]
        assert before.parse_move(str(move)) == move
        assert after.turn != before.turn
        assert before.fields_after(move) == after.fields
        assert after.placements == before.placements + (before.phase == "placing")
        assert after.white & after.black == 0
        assert after.own.bit_count() == before.opponent.bit_count() - len(move.taken)
        assert (after.quiet_turns == before.quiet_turns + 1) == (before.phase == "moving" and not move.taken)
        assert before.quiet_turns == 0 or before.phase == "moving"
    for expected in reversed(seen):
        assert pos == expected
        assert pos.legal_moves == expected.legal_moves
        assert pos.outcome() == expected.outcome()
        assert pos.repetitions == expected.repetitions
        assert Position.from_fen(rules, pos.fen()) == pos
        if pos.move_stack:
            assert pos.pop() == expected.move_stack[-1]
    assert pos == Position(rules)


@given(picks=choices)
def test_colours_are_interchangeable(picks: list[int]) -> None:
    """With the colours exchanged a position has the same moves, as if Black had begun."""
    rules = get_rules("kurnik")
    for pos in play(Position(rules), picks)[::10]:
        other = "black" if pos.turn == "white" else "white"
        mirror = Position.from_stones(rules, white=pos.black, black=pos.white, turn=other, hands=pos.hands[::-1])
        assert mirror.legal_moves == pos.legal_moves


def test_pop_needs_a_move() -> None:
    with pytest.raises(IndexError, match="no move to take back"):
        Position(get_rules("nine")).pop()


def test_copies_are_independent() -> None:
    pos = Position.from_fen(get_rules("nine"), QUIET)
    pos.push_text("a7-d7")
    other = pos.copy()
    other.push_text("b6-d6")
    assert len(pos.move_stack) == 1
    assert len(other.move_stack) == 2
    pos.pop()
    assert (pos.repetitions, other.repetitions) == (1, 1)


def test_equality_and_hash() -> None:
    rules = get_rules("nine")
    pos = Position.from_fen(rules, QUIET)
    same = Position.from_stones(get_rules("kurnik", double_mill=1), white=pos.white, black=pos.black)
    assert pos == same
    assert hash(pos) == hash(same)
    others = [
        Position.from_fen(get_rules("kurnik"), QUIET),
        Position.from_fen(rules, QUIET.replace("w 0,0 0", "b 0,0 0")),
        Position.from_fen(rules, QUIET.replace("w 0,0 0", "w 0,0 1")),
        Position.from_fen(rules, QUIET.replace("w 0,0 0", "w 1,1 0")),
        Position.from_fen(rules, QUIET.replace("W..W.B..", "WW...B..")),
    ]
    assert len({pos, same, *others}) == 6
    assert pos != QUIET


def test_repr_can_be_evaluated() -> None:
    for rules in RULE_SETS:
        pos = Position(rules)
        pos.push(pos.legal_moves[0])
        names = {"Position": Position, "get_rules": get_rules, "Rules": Rules, "Board": Board}
        assert eval(repr(pos), names) == pos
    assert repr(Position(get_rules("six"))) == "Position.from_fen(get_rules('six'), '......../........ w 6,6 0')"


def test_str_is_a_diagram() -> None:
    pos = Position(get_rules("six"))
    pos.push_text("a5")
    lines = str(pos).splitlines()
    assert lines[0] == "5  (W)------.-------."
    assert lines[-1] == "Black to move; in hand: White 5, Black 6"
    assert str(Position.from_fen(get_rules("nine"), QUIET)).endswith("White to move; quiet turns: 0")


class TestMoves:
    def test_text(self) -> None:
        move = Move(8, 1, (13, 20), BOARD_24)
        assert str(move) == "b6-d7xd2xe3"
        assert repr(move) == "<Move b6-d7xd2xe3>"

    def test_moves_are_hashable_and_equal_by_value(self) -> None:
        one, two = (Position(get_rules(name)).legal_moves for name in ("nine", "kurnik"))
        assert set(one) == set(two)
        assert one[0] != Position(get_rules("six")).legal_moves[0]  # point 0 of another board

    @pytest.mark.parametrize("text", ["d7xd2xe3", "d7xe3xd2"])
    def test_two_stones_may_be_named_in_either_order(self, text: str) -> None:
        pos = Position.from_fen(get_rules("kurnik"), "W.W...../.W..BBB./.W..B... w 5,5 0")
        pos.push_text(text)
        assert str(pos.move_stack[-1]) == "d7xd2xe3"
        assert pos.fen() == "WWW...../.W..B.B./.W...... b 4,5 0"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("d7", r"'d7' is not legal in 'W\.\.W.*'; legal: a7-d7, a7-a4, g4-g7, .*, c3-c4$"),
            ("a7-g7", "'a7-g7' is not legal"),
            ("a7-d7xb6", "'a7-d7xb6' is not legal"),
            ("b6-d6", "'b6-d6' is not legal"),
            ("a7-a9", "no point 'a9'"),
        ],
    )
    def test_illegal_moves_are_refused_with_the_legal_ones(self, text: str, message: str) -> None:
        pos = Position.from_fen(get_rules("nine"), QUIET)
        with pytest.raises(IllegalMoveError, match=message):
            pos.push_text(text)
        assert pos.fen() == QUIET

    def test_long_lists_of_legal_moves_are_cut(self) -> None:
        with pytest.raises(IllegalMoveError, match=r"; legal: a7, d7, .*, \.\.\. \(24 in all\)$"):
            Position(get_rules("nine")).push_text("a7-d7")

    def test_push_refuses_a_move_of_another_position(self) -> None:
        pos = Position.from_fen(get_rules("nine"), QUIET)
        with pytest.raises(IllegalMoveError, match="'a7' is not legal"):
            pos.push(Position(get_rules("nine")).legal_moves[0])
        assert issubclass(IllegalMoveError, ValueError)
        assert issubclass(IllegalMoveError, SolverError)

    def test_no_move_after_the_end(self) -> None:
        pos = Position.from_fen(get_rules("nine"), "WW....../...B.BB./........ w 0,0 0")
        assert pos.legal_moves == ()
        with pytest.raises(IllegalMoveError, match=r"the game is over: Black won \(stones\)"):
            pos.push_text("a7-a4")

    def test_a_record_names_the_turn_that_fails(self) -> None:
        with pytest.raises(IllegalMoveError, match=r"turn 3: 'd6' is not legal"):
            Position.from_turns(get_rules("nine"), ["d6", "a7", "d6"])


class TestEnd:
    def outcome(self, name: str, text: str) -> Outcome | None:
        return Position.from_fen(get_rules(name), text).outcome()

    def test_stones(self) -> None:
        assert self.outcome("six", "W...B.../BBB..... w 1,1 0") == Outcome("black", "stones")
        assert self.outcome("six", "WW..B.../BBB..... w 1,1 0") is None

    def test_the_opponent_below_three_loses_too(self) -> None:
        assert self.outcome("nine", "WWW...../..B...B./........ w 0,0 0") == Outcome("white", "stones")

    def test_taking_the_third_stone_ends_the_game(self) -> None:
        pos = Position.from_fen(get_rules("nine"), "WW.W..../B...B.B./........ w 0,0 0")
        pos.push_text("g4-g7xb6")
        assert pos.outcome() == Outcome("white", "stones")
        assert str(pos.outcome()) == "White won (stones)"
        pos.pop()
        assert pos.outcome() is None

    def test_blocked(self) -> None:
        assert self.outcome("nine", "WWWB..BW/BB.....B/........ w 0,0 0") == Outcome("black", "blocked")

    def test_stones_come_before_a_block(self) -> None:
        assert self.outcome("nine", "WB.....B/.......B/........ w 0,0 0") == Outcome("black", "stones")

    def test_the_quiet_limit_draws(self) -> None:
        pos = Position.from_fen(get_rules("nine", quiet_limit=3), QUIET)
        for text in SHUFFLE[:3]:
            assert pos.outcome() is None
            pos.push_text(text)
        assert pos.outcome() == Outcome(None, "quiet_limit")
        assert str(pos.outcome()) == "draw (quiet_limit)"
        assert pos.legal_moves == ()

    def test_a_mill_sets_the_quiet_count_back(self) -> None:
        pos = Position.from_fen(get_rules("kurnik-100"), "WW.W..../..BB.BB./......W. w 0,0 99")
        pos.push_text("g4-g7xb2")
        assert pos.quiet_turns == 0
        assert pos.outcome() is None
        assert pos.pop().taken == (14,)
        assert pos.quiet_turns == 99
        pos.push_text("a7-a4")
        assert pos.outcome() == Outcome(None, "quiet_limit")

    def test_a_block_by_the_last_quiet_turn_wins(self) -> None:
        pos = Position.from_fen(get_rules("kurnik-100"), "WWWB.B.W/BB.....B/........ b 0,0 99")
        pos.push_text("d1-a1")
        assert pos.quiet_turns == 100
        assert pos.outcome() == Outcome("black", "blocked")

    def test_placements_are_not_counted_as_quiet(self) -> None:
        pos = Position.from_fen(get_rules("nine"), QUIET.replace("w 0,0 0", "w 1,1 0"))
        for text in ("g7", "a1"):
            pos.push_text(text)
            assert pos.quiet_turns == 0
        pos.push_text("g7-d7")
        assert pos.quiet_turns == 1

    def test_the_third_repetition_draws(self) -> None:
        pos = Position.from_fen(get_rules("nine"), QUIET)
        for text in SHUFFLE * 2:
            assert pos.outcome() is None
            pos.push_text(text)
        assert pos.repetitions == 3
        assert pos.outcome() == Outcome(None, "repetition")
        pos.pop()
        assert pos.outcome() is None
        pos.push_text(SHUFFLE[-1])
        assert pos.outcome() == Outcome(None, "repetition")

    def test_the_same_stones_with_the_other_side_to_move_are_no_repetition(self) -> None:
        """A flying stone comes back in three turns, a sliding one in two."""
        pos = Position.from_fen(get_rules("nine"), QUIET.replace("WW.", ".W."))
        before = pos.white, pos.black
        for text in ("a7-g1", "b6-d6", "g1-a1", "d6-b6", "a1-a7"):
            pos.push_text(text)
        assert (pos.white, pos.black) == before
        assert pos.repetitions == 1

    def test_repetition_counts_from_the_first_position_with_empty_hands(self) -> None:
        pos = Position.from_fen(get_rules("nine"), QUIET.replace("w 0,0 0", "w 1,1 0"))
        pos.push_text("g7")
        assert pos.repetitions == 0
        pos.push_text("a1")
        assert pos.repetitions == 1
        for text in SHUFFLE * 2:
            assert pos.outcome() is None
            pos.push_text(text)
        assert pos.outcome() == Outcome(None, "repetition")

    def test_the_quiet_limit_comes_before_repetition(self) -> None:
        pos = Position.from_fen(get_rules("nine", quiet_limit=8), QUIET)
        for text in SHUFFLE * 2:
            pos.push_text(text)
        assert pos.repetitions == 3
        assert pos.outcome() == Outcome(None, "quiet_limit")


class TestFromStones:
    rules = get_rules("nine")

    def test_defaults(self) -> None:
        pos = Position.from_stones(self.rules, white=0b111, black=0b111 << 8)
        assert pos.fen() == "WWW...../BBB...../........ w 0,0 0"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"black": 0b100}, "both sides have a stone on g7"),
            ({"white": 1 << 24}, "White's stones 0x1000000 lie outside the 24 points"),
            ({"black": -1}, "Black's stones -0x1 lie outside"),
            ({"turn": "w"}, "side to move 'w', expected 'white' or 'black'"),
            ({"hands": (-1, -1)}, "White has -1 stones in hand"),
            ({"hands": (7, 7)}, "White has 3 stones on the board and 7 in hand, but the rules give 9"),
            ({"quiet_turns": -1}, "-1 quiet turns"),
        ],
        ids=str,
    )
    def test_errors(self, arguments: dict, message: str) -> None:
        good = {"white": 0b111, "black": 0b111 << 8}
        with pytest.raises(PositionError, match=message):
            Position.from_stones(self.rules, **(good | arguments))

    def test_masks_are_whole_numbers(self) -> None:
        with pytest.raises(TypeError):
            Position.from_stones(self.rules, white="WWW", black=0)  # type: ignore[arg-type]
