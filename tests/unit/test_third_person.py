"""What notes about the user tell of, in Chinese and English."""

import pytest

from actormem.core.facts.third_person import told_attributes


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("User has a severe walnut allergy", "allergy"),
        ("The user is allergic to shrimp.", "allergy"),
        ("The customer lives in Porto", "address"),
        ("User's email is li@example.org", "email"),
        ("User works as a nurse", "job"),
        ("The user doesn't eat pork", "avoids"),
        ("用户对虾过敏", "allergy"),
        ("客户的邮箱是 li@example.org", "email"),
        ("用户住在成都", "address"),
    ],
)
def test_a_note_tells_of_an_attribute(text: str, attribute: str) -> None:
    assert attribute in told_attributes(text)


@pytest.mark.parametrize(
    "text",
    [
        "I have a walnut allergy", "我对虾过敏", "Users have many allergies", "", "User", "用户",
        "Does the user live in Porto?", "User has " + "x " * 400,
    ],
)  # fmt: skip
def test_other_texts_tell_of_none(text: str) -> None:
    assert told_attributes(text) == ()
